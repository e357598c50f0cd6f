const quote = 34
const backslash = 92

/**
 * Whether arrays and objects lie in each other more than `limit` levels deep in a JSON text. JSON.parse reads any
 * depth, but JSON.stringify and every recursive reader run out of stack on what it made.
 */
export function tooDeep(text: string, limit: number): boolean {
  return bracketsExceed(text, limit) && depthExceeds(text, limit)
}

/** Almost every text has fewer brackets than levels are allowed, which costs a tenth of a walk to find out. */
function bracketsExceed(text: string, limit: number): boolean {
  let left = limit
  for (const bracket of ['[', '{']) {
    for (let index = text.indexOf(bracket); index >= 0; index = text.indexOf(bracket, index + 1)) {
      if (left === 0) return true
      left -= 1
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

/** The quote that ends the JSON string begun at `start`, or the end of the text. */
export function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && escaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

function escaped(text: string, index: number): boolean {
  let before = index - 1
  while (text.charCodeAt(before) === backslash) before -= 1
  return (index - before) % 2 === 0
}
