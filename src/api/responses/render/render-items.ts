import type { OutputItem, OutputText, SummaryText } from './reply-schema.ts'
import type { OpenItem } from '../events/state.ts'

/** An item as it is now; one that says nothing yet has no part. */
export function renderItem(
  { type, id, text }: OpenItem,
  status: 'in_progress' | 'completed' | 'incomplete',
): OutputItem {
  if (type === 'reasoning') return { id, type, summary: text === '' ? [] : [renderSummaryText(text)] }
  return { id, type, status, role: 'assistant', content: text === '' ? [] : [renderOutputText(text)] }
}

/** The text of a message, as a part of it. */
export function renderOutputText(text: string): OutputText {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

/** A stretch of reasoning, as a part of its item. */
export function renderSummaryText(text: string): SummaryText {
  return { type: 'summary_text', text }
}
