import { join } from 'node:path'
import { projectFolder } from '../../support/source.ts'

/** A fenced block of code. */
export type Fence = {
  /** The first word of its info string, such as `sh`. */
  readonly language: string
  /** The other words of its info string, such as `runnable`. */
  readonly flags: readonly string[]
  readonly text: string
  /** The line of its first line of code, counted from 1. */
  readonly line: number
}

/** A link or an image. */
export type Link = { readonly target: string; readonly line: number }

/** A Markdown page of the repository. */
export type MarkdownPage = {
  /** Its path from the root of the repository. */
  readonly path: string
  readonly text: string
  readonly fences: readonly Fence[]
  /** Its lines outside fenced blocks; a line inside one is empty. */
  readonly prose: readonly string[]
}

/** Reads README.md and every page of docs. */
export async function documentationPages(): Promise<MarkdownPage[]> {
  const docs = await Array.fromAsync(new Bun.Glob('docs/**/*.md').scan({ cwd: projectFolder }))
  const paths = ['README.md', ...docs.map((path) => path.replaceAll('\\', '/')).toSorted()]
  return Promise.all(
    paths.map(async (path) => parsePage(path, await Bun.file(join(projectFolder, path)).text())),
  )
}

/** Splits a page into its fenced blocks and the lines around them. */
export function parsePage(path: string, text: string): MarkdownPage {
  const fences: Fence[] = []
  const prose: string[] = []
  let open: { readonly marker: string; readonly words: readonly string[]; readonly start: number } | null =
    null
  const lines = text.split('\n')
  for (const [index, line] of lines.entries()) {
    const marker = /^(`{3,})/.exec(line)?.[1]
    if (open === null && marker !== undefined) {
      open = { marker, words: line.slice(marker.length).trim().split(/\s+/), start: index + 1 }
    } else if (open !== null && marker !== undefined && closes(line, open.marker)) {
      const [language = '', ...flags] = open.words
      fences.push({ language, flags, text: lines.slice(open.start, index).join('\n'), line: open.start + 1 })
      open = null
    } else if (open === null) {
      prose[index] = line
      continue
    }
    prose[index] = ''
  }
  if (open !== null) throw new Error(`${path}:${open.start}: this block has no end.`)
  return { path, text, fences, prose }
}

function closes(line: string, marker: string): boolean {
  return line.startsWith(marker) && /^`+\s*$/.test(line)
}

/** Returns the pieces of code in the sentences and tables of a page. */
export function codeSpans({ prose }: MarkdownPage): string[] {
  return prose.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''))
}

/** Returns the targets of the links and images of a page. */
export function linksOf({ prose }: MarkdownPage): Link[] {
  return prose.flatMap((line, index) => {
    const plain = line.replaceAll(/`[^`]*`/g, '')
    const patterns = [/\]\(<?([^)\s>]+)>?[^)]*\)/g, /\b(?:href|src)="([^"]+)"/g, /^\[[^\]]+\]:\s*(\S+)/g]
    return patterns.flatMap((pattern) =>
      [...plain.matchAll(pattern)].map((match) => ({ target: match[1] ?? '', line: index + 1 })),
    )
  })
}

/** Returns the anchors of a page, as forges make them of its headings. */
export function anchorsOf({ prose }: MarkdownPage): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const line of prose) {
    const heading = /^#{1,6}\s+(.*?)\s*#*\s*$/.exec(line)?.[1]
    if (heading !== undefined) anchors.add(unusedAnchor(slugOf(heading), anchors))
    for (const [, id = ''] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id)
  }
  return anchors
}

function slugOf(heading: string): string {
  const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '')
  return plain
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

function unusedAnchor(slug: string, used: ReadonlySet<string>): string {
  if (!used.has(slug)) return slug
  for (let count = 1; ; count++) if (!used.has(`${slug}-${count}`)) return `${slug}-${count}`
}
