import type { Citation, GenerationEvent } from '../../domain/generation/events.ts'
import { type Fields, fieldsOf, textOf } from '../../lib/json/json.ts'
import { countOf } from './parsing.ts'

/** The most citations of one choice. */
export const maxCitations = 200
/** In characters: a page with a longer URL is not cited. */
const maxUrl = 8192
/** In characters: a longer title is cut. */
const maxTitle = 1000

/** The citations of a choice that were emitted; undefined for none. */
export type Cited = ReadonlySet<string> | undefined

/**
 * Emits the pages that these annotations cite and earlier ones did not: providers repeat them. Returns all that were
 * emitted by now. `pageOf` returns the part of an annotation that has the fields of the page.
 */
export function emitAnnotations(
  annotations: readonly unknown[],
  pageOf: (annotation: Fields) => unknown,
  cited: Cited,
  choice: number,
  events: GenerationEvent[],
): Cited {
  const keys = new Set(cited)
  const citations: Citation[] = []
  for (const annotation of annotations) {
    if (keys.size === maxCitations) break
    const fields = fieldsOf(annotation)
    const citation = fields.type === 'url_citation' ? parseCitation(pageOf(fields)) : undefined
    if (citation === undefined) continue
    const key = `${citation.startIndex} ${citation.endIndex} ${citation.url}`
    if (!keys.has(key)) citations.push(citation)
    keys.add(key)
  }
  emitCitations(citations, choice, events)
  return citations.length > 0 ? keys : cited
}

/** Emits the citations, if there are any. */
export function emitCitations(
  citations: readonly Citation[],
  choice: number,
  events: GenerationEvent[],
): void {
  if (citations.length > 0) events.push({ type: 'citations', choice, citations })
}

/** Parses a cited page; undefined for one without a URL of the web. */
export function parseCitation(page: unknown): Citation | undefined {
  const { url: given, title, start_index, end_index } = fieldsOf(page)
  const url = textOf(given)
  if (url === undefined || url.length > maxUrl || !/^https?:\/\/\S/i.test(url)) return undefined
  return {
    url,
    // The cut can split a character.
    title: (textOf(title) ?? url).slice(0, maxTitle).toWellFormed(),
    startIndex: countOf(start_index) ?? 0,
    endIndex: countOf(end_index) ?? 0,
  }
}
