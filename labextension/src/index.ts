export { plugin as default } from './hosts/lab/plugin';
