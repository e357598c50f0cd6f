import type { Citation, GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf } from '../../../lib/json/json.ts'
import { emitAnnotations, emitCitations, maxCitations, parseCitation } from '../citations.ts'
import type { Choice } from './choice.ts'

/**
 * Emits the citations of a message or a delta, or those of the body around it, and returns the choice; the same object
 * where nothing was new.
 */
export function addCitations(
  choice: Choice,
  index: number,
  { annotations }: Fields,
  { search_results, citations }: Fields,
  events: GenerationEvent[],
): Choice {
  const form = choice.citations?.form
  if (isFilled(annotations) && form !== 'sources') return addAnnotations(choice, index, annotations, events)
  // Perplexity sends the pages that it has found, and their URLs alone for older clients.
  const sources = isFilled(search_results) ? search_results : citations
  return isFilled(sources) && form !== 'annotations' ? addSources(choice, index, sources, events) : choice
}

function isFilled(list: unknown): list is readonly unknown[] {
  return Array.isArray(list) && list.length > 0
}

function addAnnotations(
  choice: Choice,
  index: number,
  annotations: readonly unknown[],
  events: GenerationEvent[],
): Choice {
  const before = choice.citations?.form === 'annotations' ? choice.citations.cited : undefined
  const cited = emitAnnotations(annotations, ({ url_citation }) => url_citation, before, index, events)
  return cited === before ? choice : { ...choice, citations: { form: 'annotations', cited } }
}

/** Every chunk repeats the list so far. An entry may equal an earlier one: the text cites them by their positions. */
function addSources(
  choice: Choice,
  index: number,
  sources: readonly unknown[],
  events: GenerationEvent[],
): Choice {
  const read = choice.citations?.form === 'sources' ? choice.citations.count : 0
  const count = Math.min(sources.length, maxCitations)
  if (count <= read) return choice
  const found = sources.slice(read, count).map(parseSource)
  emitCitations(
    found.filter((citation) => citation !== undefined),
    index,
    events,
  )
  return { ...choice, citations: { form: 'sources', count } }
}

function parseSource(source: unknown): Citation | undefined {
  const { url, title } = typeof source === 'string' ? { url: source } : fieldsOf(source)
  return parseCitation({ url, title })
}
