/**
 * Returns the first line that differs from what a page shows, or null if none does. In the expected text `…` stands
 * for any text within a line, and a line of it alone for any number of lines.
 */
export function firstDifference(expected: string, actual: string): string | null {
  const pattern = linesOf(expected)
  const lines = linesOf(actual)
  const from = pattern.indexOf('…')
  if (from < 0 && lines.length > pattern.length) return `one line more: ${lines[pattern.length]}`
  for (const [index, line] of pattern.entries()) {
    if (line === '…') return afterWildcard(pattern.slice(index + 1), lines.slice(index))
    const found = lines[index]
    if (found === undefined) return `no line “${line}”`
    if (!lineMatches(line, found)) return `“${found}” where the page has “${line}”`
  }
  return null
}

/** The rest of the pattern may begin at any line that is left. */
function afterWildcard(pattern: readonly string[], lines: readonly string[]): string | null {
  const starts = Array.from({ length: lines.length + 1 }, (_, index) => index)
  const rest = pattern.join('\n')
  const fits = starts.some((start) => firstDifference(rest, lines.slice(start).join('\n')) === null)
  return fits ? null : `nothing that matches “${rest}” in “${lines.join('\n')}”`
}

function lineMatches(pattern: string, line: string): boolean {
  const source = pattern.split('…').map((part) => RegExp.escape(part))
  return new RegExp(`^${source.join('.*')}$`, 'su').test(line)
}

function linesOf(text: string): string[] {
  const trimmed = text.replace(/\s+$/, '')
  return trimmed === '' ? [] : trimmed.split('\n').map((line) => line.trimEnd())
}
