import { nextTurn } from '../time.ts'
import { stringEnd } from '../validation/nesting.ts'

/** In characters: shorter texts are parsed at once; of longer ones about so many in a turn of the event loop. */
const sliceLength = 512 * 1024

/** The elements of the JSON text of a list, parsed in slices with other work between. Throws where it is not JSON. */
export async function parseList(text: string): Promise<unknown[]> {
  if (text.length <= sliceLength) return JSON.parse(text) as unknown[]
  const elements: unknown[] = []
  let sliceEnd = sliceLength
  for (let from = text.indexOf('[') + 1; from < text.length;) {
    const end = elementEnd(text, from)
    const element = text.slice(from, end)
    // Of a list without elements.
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

/** The place of the comma behind the element that begins here, or of the bracket that ends the list. */
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
