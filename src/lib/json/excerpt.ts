/**
 * Copies a JSON value with about `max` characters of it, where the copy says what it lacks: of lists the first items, of texts
 * the end. Files are replaced by their type and size, and credentials and headers by an ellipsis.
 */
export function excerptOf(value: unknown, max: number): unknown {
  return new Excerpt(max).of(value)
}

/** Beside its text, each value takes some characters. */
const valueLength = 4

class Excerpt {
  #left: number

  constructor(max: number) {
    this.#left = max
  }

  of(value: unknown, name?: string): unknown {
    this.#left -= valueLength
    if (typeof value === 'string') return this.#text(withoutFile(value, name))
    if (typeof value !== 'object' || value === null) return value
    if (!Array.isArray(value)) return this.#object(value, name)
    return name !== undefined && headersName.test(name) ? '…' : this.#list(value)
  }

  #text(text: string): string {
    const kept = Math.max(0, Math.min(text.length, this.#left))
    this.#left -= kept
    const missing = text.length - kept
    return missing === 0 ? text : `${text.slice(0, kept).toWellFormed()}… (${missing} more characters)`
  }

  /** From its end, because the last messages of a conversation say what a request is about. */
  #list(items: readonly unknown[]): unknown[] {
    const kept: unknown[] = []
    for (let index = items.length - 1; index >= 0; index--) {
      if (this.#left <= 0) {
        kept.push(`… (${index + 1} more items)`)
        break
      }
      kept.push(this.of(items[index]))
    }
    return kept.toReversed()
  }

  #object(fields: object, of?: string): object {
    const kept: [string, unknown][] = []
    const entries = Object.entries(fields)
    const areHeaders = of !== undefined && headersName.test(of) && !('type' in fields)
    for (const [name, value] of entries) {
      if (this.#left <= 0) {
        kept.push(['…', `(${entries.length - kept.length} more properties)`])
        break
      }
      const isSecret = typeof value === 'string' && (areHeaders || secretName.test(name))
      kept.push([this.#text(name), this.of(isSecret ? '…' : value, name)])
    }
    return Object.fromEntries(kept)
  }
}

const dataUrl = /^data:([\w.+-]{1,99}\/[\w.+-]{1,99})[;,]/
const base64 = /^[\w+/-]{64}/
/** The properties that contain files in the APIs of OpenAI and Anthropic. */
const fileNames: ReadonlySet<string | undefined> = new Set(['data', 'file_data'])
/** What a request contains to sign in at other services, such as MCP servers, in the spelling of any client. */
const secretName =
  /^((proxy[-_]?)?authorization([-_]?token)?|(x[-_])?api[-_]?key|(x[-_])?(access|auth|bearer|refresh)[-_]?token|client[-_]?secret|password|cookie)$/i
/** Any header can be a credential, also in a list of them. A schema with a property of that name has a type. */
const headersName = /^(http|extra|request)?[-_]?headers$/i
/** Characters; a longer header reaches no server. */
const maxToken = 16_384
/** Shorter ones may be two words of a sentence. */
const bearerToken = /^(bearer|basic) +[\w.~+/=-]{20,}$/i

function withoutFile(text: string, name: string | undefined): string {
  if (text.length < maxToken && bearerToken.test(text)) return '…'
  const [, type] = dataUrl.exec(text) ?? []
  if (type === undefined && !(fileNames.has(name) && base64.test(text))) return text
  const start = type === undefined ? 0 : text.indexOf(',') + 1
  return `${type === undefined ? '' : `data:${type}`}… (${Math.floor(((text.length - start) * 3) / 4)} bytes)`
}
