/** The method with which Node formats a value. */
const inspect = Symbol.for('nodejs.util.inspect.custom')
const hidden = '[secret]'

/** A string that no log, message or JSON shows by accident: only `reveal()` returns it. */
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

  [inspect](): string {
    return hidden
  }
}
