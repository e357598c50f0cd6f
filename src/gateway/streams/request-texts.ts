import type { Generation } from '../../domain/generation/request.ts'

/** Characters that are searched in all: that takes 10 to 20 ms. */
const maxSearched = 16 * 1024 * 1024

/** Characters that could be searched in the time that each further value takes. */
const costOfValue = 64

/** The texts of a request, with the names of its properties, for a limited number of searches. */
export class RequestTexts {
  readonly #request: Generation
  #texts: ReadonlySet<string> | undefined
  #cost = 0
  #left = maxSearched

  constructor(request: Generation) {
    this.#request = request
  }

  /**
   * Whether one of the texts contains these words in this order, in any case and with anything but letters and digits between
   * them; also true where a search would take too long.
   */
  have(words: readonly string[]): boolean {
    this.#texts ??= this.#collect()
    this.#left -= this.#cost
    if (this.#left < 0) return true
    const pattern = new RegExp(words.join('[^a-z0-9]+'), 'i')
    return this.#texts.values().some((text) => pattern.test(text))
  }

  /** Ends where the texts are more than can be searched. */
  #collect(): ReadonlySet<string> {
    const texts = new Set<string>()
    const values: unknown[] = [this.#request]
    while (values.length > 0 && this.#cost <= maxSearched) {
      const value = values.pop()
      if (typeof value === 'string') this.#add(value, texts)
      else if (typeof value === 'object' && value !== null) this.#addContents(value, values)
    }
    return texts
  }

  #addContents(container: object, values: unknown[]): void {
    const items = Array.isArray(container) ? container : Object.entries(container).flat()
    for (const item of items) {
      this.#cost += costOfValue
      if (this.#cost > maxSearched) return
      values.push(item)
    }
  }

  #add(text: string, texts: Set<string>): void {
    if (encoded.test(text)) return
    // A text that cannot be searched is not worth the hash that the set needs of it.
    if (text.length <= maxSearched && texts.has(text)) return
    this.#cost += text.length
    if (this.#cost <= maxSearched) texts.add(text)
  }
}

/** Of images and other files, which are no text. */
const encoded = /^(?:data:[^,\s]{0,200};base64,|[A-Za-z0-9+/_-]{256})/
