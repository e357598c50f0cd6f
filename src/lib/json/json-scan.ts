/**
 * How far the text of one JSON object or list has come. It is scanned piece by piece, so that text in many pieces is
 * read only once.
 */
export type JsonScan = { readonly place: Place; readonly depth: number }

/** `other`: it is no object and no list, or more follows its end. */
type Place = 'before' | 'inside' | 'string' | 'escape' | 'closed' | 'other'

/** The scan of an empty text. */
export const emptyScan: JsonScan = { place: 'before', depth: 0 }

/** The scan of the text with one more piece. */
export function scanPiece(scan: JsonScan, piece: string): JsonScan {
  let { place, depth } = scan
  for (let index = 0; index < piece.length && place !== 'other'; index++) {
    const code = piece.charCodeAt(index)
    if (place === 'string') place = afterInString(code)
    else if (place === 'escape') place = 'string'
    else if (isSpace(code)) continue
    else if (place === 'inside') {
      if (isOpening(code)) depth += 1
      if (isClosing(code)) depth -= 1
      if (code === quote) place = 'string'
      else if (depth === 0) place = 'closed'
    } else {
      place = place === 'before' && isOpening(code) ? 'inside' : 'other'
      depth = 1
    }
  }
  return { place, depth }
}

/** Whether the last bracket is closed: nothing that continues the text would be JSON. */
export function isClosed({ place }: JsonScan): boolean {
  return place === 'closed'
}

const quote = 34
const backslash = 92

function afterInString(code: number): Place {
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
