/**
 * Whether a text matches an entry of a list of models: it is the same, or it has any characters where the entry has a `*`.
 * Takes time by the product of both lengths at most.
 */
export function matchesModel(entry: string, text: string): boolean {
  const [first = '', ...rest] = entry.split('*')
  const last = rest.pop()
  if (last === undefined) return entry === text
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
    return false
  // The parts between are found from left to right, each as early as possible.
  let position: number | undefined = first.length
  const end = text.length - last.length
  for (const part of rest) {
    position = endOf(part, text, position)
    if (position === undefined || position > end) return false
  }
  return true
}

function endOf(part: string, text: string, from: number): number | undefined {
  const start = text.indexOf(part, from)
  return start < 0 ? undefined : start + part.length
}

/** Whether an entry of a list of models is within another list. An entry with `*` is within one that matches it as a text. */
export function isWithinModels(entry: string, list: readonly string[]): boolean {
  return list.some((other) => matchesModel(other, entry))
}
