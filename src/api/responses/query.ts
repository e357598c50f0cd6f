import { Type } from 'typebox'
import { pageParameters } from '../../http/paging.ts'
import { queryOf } from '../../http/query.ts'

/** What a stored response may be asked for with. */
export const readingQuery = queryOf({
  stream: Type.Optional(
    Type.String({
      description: 'With true or 1, the events of the response instead of the response itself.',
    }),
  ),
  starting_after: Type.Optional(
    Type.Integer({ description: 'Only events with a sequence_number above this one.' }),
  ),
})

/** The parameters of the list of input items. */
export const inputQuery = queryOf(pageParameters('item', 'desc'))

/** Clients say `stream=false`, too. */
export function streamWanted(stream: string | undefined): boolean {
  return stream === 'true' || stream === '1'
}
