/** A page whose regions are written by the generator; what is outside of them is written by hand. */
export type Page = {
  /** The path from the root of the repository. */
  readonly path: string
  /** Returns the Markdown of each region by its name. */
  regions(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
}

/**
 * Returns the text with the content of each region replaced. A region stands between `<!-- generated: NAME -->` and
 * `<!-- end -->`. Throws if the page lacks one, or has one that is not generated.
 */
export function fillRegions(text: string, regions: Readonly<Record<string, string>>): string {
  const filled = new Set<string>()
  const result = text.replace(region, (_, begin: string, name: string, end: string) => {
    const content = Object.hasOwn(regions, name) ? regions[name] : undefined
    if (content === undefined) throw new Error(`The region “${name}” of the page is not generated.`)
    filled.add(name)
    return `${begin}\n\n${content.trim()}\n\n${end}`
  })
  const missing = Object.keys(regions).filter((name) => !filled.has(name))
  if (missing.length > 0) throw new Error(`The page has no region “${missing.join('”, “')}”.`)
  return result
}

const region = /^(<!-- generated: ([a-z0-9-]+) -->)$[^]*?^(<!-- end -->)$/gm

/** A column of a table: its title, and the cell of a row as Markdown. */
export type Column<Row> = { readonly title: string; cell(row: Row): string }

/** Returns a Markdown table whose columns are aligned, as the formatter does it. */
export function markdownTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const titles = columns.map(({ title }) => title)
  const cells = rows.map((row) => columns.map(({ cell }) => escapeCell(cell(row))))
  const widths = titles.map((title, index) =>
    Math.max(3, ...[title, ...cells.map((row) => row[index] ?? '')].map((cell) => Bun.stringWidth(cell))),
  )
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, index) => padded(cell, widths[index] ?? 0)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [line(titles), rule, ...cells.map(line)].join('\n')
}

/** The longest line of prose of a page. */
const maxLineWidth = 120

/** Returns a sentence in lines of at most this width; the lines after the first begin with the indent. */
export function wrapped(text: string, indent = '', width = maxLineWidth): string {
  const lines: string[] = []
  // A piece of code or a link stays in one line.
  for (const word of text.match(/(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+/g) ?? []) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${line} ${word}`
    else lines.push(line === undefined ? word : `${indent}${word}`)
  }
  return lines.join('\n')
}

/** Returns the items as code, with commas; a dash if there are none. */
export function codeList(items: readonly string[]): string {
  return items.length === 0 ? '–' : items.map(code).join(', ')
}

/** Returns the text as a piece of code. */
export function code(text: string): string {
  return `\`${text}\``
}

/** Returns a fenced block. */
export function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - Bun.stringWidth(text)))
}
