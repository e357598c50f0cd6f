/** A part of an answer that is rendered on its own: text of Markdown, or some lines of a block of code. */
export type Block = {
  readonly kind: 'markdown' | 'code'
  readonly source: string
  /** The language of code. */
  readonly language: string
  /** Continues the block of code before it. */
  readonly continued: boolean
}

/** Characters. A longer part is divided, so that the last one stays cheap to render. */
const maxBlockLength = 4000

/**
 * Divides Markdown into blocks while it grows. A block that is complete never changes, so that only the last one has to
 * be rendered again: `blocks` has the complete ones, `rest` is the one that is still growing.
 */
export class BlockSplitter {
  readonly blocks: Block[] = []
  #rest = ''
  /** The fence of the block of code that is open, and its language. */
  #fence: { readonly mark: string; readonly language: string; continued: boolean } | undefined
  /** How much of the rest has been searched for its end. */
  #searched = 0

  /** The part that is still growing; undefined if there is none. */
  get rest(): Block | undefined {
    if (this.#rest === '' && this.#fence === undefined) return undefined
    return this.#block(this.#rest)
  }

  /** Adds text to the end. */
  push(text: string): void {
    this.#rest += text
    while (this.#fence === undefined ? this.#takeMarkdown() : this.#takeCode());
  }

  #takeMarkdown(): boolean {
    const fence = this.#findFence()
    if (fence !== undefined) {
      this.#complete(this.#rest.slice(0, fence.start))
      this.#rest = this.#rest.slice(fence.end)
      this.#fence = { mark: fence.mark, language: fence.language, continued: false }
      this.#searched = 0
      return true
    }
    const end = this.#blankLine() ?? (this.#rest.length > maxBlockLength ? this.#breakingPoint() : undefined)
    if (end === undefined) return false
    this.#complete(this.#rest.slice(0, end))
    this.#rest = this.#rest.slice(end)
    this.#searched = 0
    return true
  }

  /** A complete line that opens a block of code, before the next blank line. */
  #findFence() {
    const match = /^ {0,3}(`{3,}|~{3,})([^`\n]*)\n/m.exec(this.#rest)
    const blank = this.#blankLine()
    if (match === null || (blank !== undefined && blank <= match.index)) return undefined
    const [line, mark = '', language = ''] = match
    return { start: match.index, end: match.index + line.length, mark, language: language.trim() }
  }

  /** After a blank line that ends a block: one that indented text follows may be inside of a list. */
  #blankLine(): number | undefined {
    const text = this.#rest
    for (let index = text.indexOf('\n', this.#searched); index >= 0;) {
      // Not a regular expression, which would take quadratic time for a run of line breaks.
      let end = index
      let lines = 0
      for (; /\s/.test(text[end] ?? ''); end++) if (text[end] === '\n') lines++
      this.#searched = index
      if (end === text.length) return undefined
      if (lines > 1 && text[end - 1] === '\n') return end
      index = text.indexOf('\n', end)
    }
    this.#searched = text.length
    return undefined
  }

  #breakingPoint(): number {
    const space = this.#rest.lastIndexOf(' ', maxBlockLength)
    const line = this.#rest.lastIndexOf('\n', maxBlockLength)
    return Math.max(space, line) + 1 || Math.min(this.#rest.length, maxBlockLength)
  }

  #takeCode(): boolean {
    const fence = this.#fence
    if (fence === undefined) return false
    const closing = new RegExp(`^ {0,3}${fence.mark}[\`~]*[ \\t]*(\\n|$)`, 'm').exec(this.#rest)
    // Without its line end, the closing fence may still become longer.
    if (closing !== null && closing[1] === '\n') {
      this.#complete(this.#rest.slice(0, closing.index), true)
      this.#rest = this.#rest.slice(closing.index + closing[0].length)
      this.#fence = undefined
      return true
    }
    if (this.#rest.length <= maxBlockLength) return false
    const line = this.#rest.lastIndexOf('\n', maxBlockLength)
    const end = line < 0 ? maxBlockLength : line + 1
    this.#complete(this.#rest.slice(0, end))
    this.#rest = this.#rest.slice(end)
    fence.continued = true
    return true
  }

  /** `always` for a block of code without lines. */
  #complete(source: string, always = false): void {
    if (source.trim() !== '' || always) this.blocks.push(this.#block(source))
  }

  #block(source: string): Block {
    const { language = '', continued = false } = this.#fence ?? {}
    return { kind: this.#fence === undefined ? 'markdown' : 'code', source, language, continued }
  }
}
