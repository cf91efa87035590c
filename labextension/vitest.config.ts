import { defineConfig } from 'vitest/config';

/** Values are tested in Node, what draws is tested in a DOM. */
export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'core',
          environment: 'node',
          include: ['tests/{model,client,diff,protocol}/**/*.test.ts']
        }
      },
      {
        extends: true,
        test: { name: 'dom', environment: 'jsdom', include: ['tests/{ui,hosts}/**/*.test.{ts,tsx}'] }
      }
    ]
  }
});
