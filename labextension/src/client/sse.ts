/** Server-sent events from chunks of text, as the HTML standard reads them. Pure. */

export interface SseMessage {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Keeps what an unfinished chunk leaves behind; one parser per connection. */
export class SseParser {
  /** The messages that `chunk` completes. Comments and unknown fields are left out. */
  feed(chunk: string): SseMessage[] {
    const lines = (this.rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    return lines.map(line => this.line(line)).filter(message => message !== null);
  }

  private line(line: string): SseMessage | null {
    if (line === '') {
      return this.dispatch();
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') {
      this.data.push(value);
    } else if (field === 'event') {
      this.event = value;
    } else if (field === 'id') {
      this.id = value;
    }
    return null;
  }

  private dispatch(): SseMessage | null {
    const { data, event } = this;
    this.data = [];
    this.event = '';
    return data.length === 0 ? null : { id: this.id, event, data: data.join('\n') };
  }

  private rest = '';
  private id = '';
  private event = '';
  private data: string[] = [];
}
