const quote = 34
const backslash = 92

/**
 * Returns true if arrays and objects of a JSON text are nested more than `limit` levels deep. JSON.parse accepts any
 * depth, but JSON.stringify and every recursive function overflow the stack on its result.
 */
export function isTooDeep(text: string, limit: number): boolean {
  return bracketsExceed(text, limit) && depthExceeds(text, limit)
}

/** A cheap first check, at a tenth of the cost: almost every text has fewer brackets than allowed levels. */
function bracketsExceed(text: string, limit: number): boolean {
  let remaining = limit
  for (const bracket of ['[', '{']) {
    for (let index = text.indexOf(bracket); index >= 0; index = text.indexOf(bracket, index + 1)) {
      if (remaining === 0) return true
      remaining -= 1
    }
  }
  return false
}

function depthExceeds(text: string, limit: number): boolean {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) index = stringEnd(text, index)
    else if (code === 91 || code === 123) depth += 1
    else if (code === 93 || code === 125) depth -= 1
    if (depth > limit) return true
  }
  return false
}

/** Returns the index of the quote that ends the JSON string started at `start`, or the length of the text. */
export function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

function isEscaped(text: string, index: number): boolean {
  let before = index - 1
  while (text.charCodeAt(before) === backslash) before -= 1
  return (index - before) % 2 === 0
}
