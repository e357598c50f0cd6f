/** Node's own name for how a value is printed. */
const printed = Symbol.for('nodejs.util.inspect.custom')
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

  [printed](): string {
    return hidden
  }
}
