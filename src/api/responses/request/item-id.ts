/** The id of the input item at this place of a response, for an item that came without one. */
export function inputItemId(responseId: string, index: number, type: string): string {
  return `${prefixOf(type)}_${digitsOf(responseId)}i${index}`
}

/** The id of the output item at this place of a response. */
export function outputItemId(responseId: string, index: number, type: string): string {
  return `${prefixOf(type)}_${digitsOf(responseId)}${String(index).padStart(2, '0')}`
}

const itemId = /^[a-z]{2,4}_([0-9a-f]{32})(?:i\d+|\d{2,})$/

/** The id of the response that made this item id, or undefined where it is not one of ours. */
export function responseOfItem(id: string): string | undefined {
  const digits = itemId.exec(id)?.[1]
  return digits === undefined ? undefined : `resp_${digits}`
}

const prefixes: ReadonlyMap<string, string> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
])

function prefixOf(type: string): string {
  return prefixes.get(type) ?? 'item'
}

function digitsOf(responseId: string): string {
  return responseId.slice('resp_'.length)
}
