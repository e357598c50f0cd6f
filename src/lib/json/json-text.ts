import { nextTurn } from '../time.ts'
import { stringEnd } from '../validation/json-bounds.ts'

/**
 * The state of scanning the text of one JSON object or array. The text is scanned piece by piece, so that text in many
 * pieces is read only once.
 */
export type JsonScan = { readonly position: Position; readonly depth: number }

/** `other`: the text is not an object or array, or continues after its end. */
type Position = 'before' | 'inside' | 'string' | 'escape' | 'closed' | 'other'

/** The scan of an empty text. */
export const emptyScan: JsonScan = { position: 'before', depth: 0 }

/** Returns the scan after one more piece of text. */
export function scanPiece(scan: JsonScan, piece: string): JsonScan {
  let { position, depth } = scan
  for (let index = 0; index < piece.length && position !== 'other'; index++) {
    const code = piece.charCodeAt(index)
    if (position === 'string') position = nextInString(code)
    else if (position === 'escape') position = 'string'
    else if (isSpace(code)) continue
    else if (position === 'inside') {
      if (isOpening(code)) depth += 1
      if (isClosing(code)) depth -= 1
      if (code === quote) position = 'string'
      else if (depth === 0) position = 'closed'
    } else {
      position = position === 'before' && isOpening(code) ? 'inside' : 'other'
      depth = 1
    }
  }
  return { position, depth }
}

/** True once the outermost bracket is closed: the text is complete. */
export function isClosed({ position }: JsonScan): boolean {
  return position === 'closed'
}

const quote = 34
const backslash = 92

function nextInString(code: number): Position {
  if (code === backslash) return 'escape'
  return code === quote ? 'inside' : 'string'
}

function isOpening(code: number): boolean {
  return code === 123 || code === 91
}

function isClosing(code: number): boolean {
  return code === 125 || code === 93
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}

/** Characters parsed in one turn of the event loop. Shorter texts are parsed at once. */
const sliceLength = 512 * 1024

/** Parses the text of a JSON array in slices, and lets other work run between them. Throws if it is not JSON. */
export async function parseList(text: string): Promise<unknown[]> {
  if (text.length <= sliceLength) return JSON.parse(text) as unknown[]
  const elements: unknown[] = []
  let sliceEnd = sliceLength
  for (let from = text.indexOf('[') + 1; from < text.length;) {
    const end = elementEnd(text, from)
    const element = text.slice(from, end)
    // The array is empty.
    if (element.trim() !== '') elements.push(JSON.parse(element))
    if (text[end] !== ',') break
    from = end + 1
    if (from < sliceEnd) continue
    sliceEnd = from + sliceLength
    await nextTurn()
  }
  return elements
}

const comma = 44

/** Returns the index of the comma after the element that starts here, or of the bracket that ends the array. */
function elementEnd(text: string, start: number): number {
  let depth = 0
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) index = stringEnd(text, index)
    else if (code === comma && depth === 0) return index
    else if (code === 91 || code === 123) depth += 1
    else if (code === 93 || code === 125) depth -= 1
    if (depth < 0) return index
  }
  return text.length
}
