import { inspect } from 'node:util'

const hidden = '[secret]'

/** A string that no log, message or JSON can show by accident: only `reveal()` gives it. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  toString(): string {
    return hidden
  }

  toJSON(): string {
    return hidden
  }

  [inspect.custom](): string {
    return hidden
  }
}
