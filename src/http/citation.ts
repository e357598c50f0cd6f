import { type Static, Type } from 'typebox'
import type { Citation } from '../domain/generation/events.ts'

export type RenderedCitation = Static<typeof RenderedCitation>
/** A cited web page, as all APIs have it. */
export const RenderedCitation = Type.Object({
  url: Type.String(),
  title: Type.String(),
  start_index: Type.Integer(),
  end_index: Type.Integer(),
})

/** Renders a cited web page. */
export function renderCitation({ url, title, startIndex, endIndex }: Citation): RenderedCitation {
  return { url, title, start_index: startIndex, end_index: endIndex }
}
