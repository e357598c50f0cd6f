import { nextTurn } from '../time.ts'
import { stringEnd } from '../validation/json-bounds.ts'

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

const [quote, comma] = [34, 44]

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
