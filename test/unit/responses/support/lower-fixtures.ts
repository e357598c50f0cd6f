import { ApiError } from '../../../../src/lib/errors/errors.ts'
import { inputItems, type Item } from '../../../../src/api/responses/request/items.ts'
import { lower, type Lowered } from '../../../../src/api/responses/request/lower.ts'
import { responseRequest } from '../../../../src/api/responses/request/schema.ts'

const responseId = `resp_${'0'.repeat(32)}`

/** The lowered form of a request with this text, after the context. */
export function lowered(patch: object, context: readonly Item[] = []): Lowered {
  const request = responseRequest.read({ model: 'a', input: 'Hello', ...patch })
  return lower(request, context, inputItems(request.input, responseId))
}

/** The refusal of such a request. */
export function rejection(patch: object, context: readonly Item[] = []): ApiError {
  try {
    lowered(patch, context)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('Nothing was refused.')
}

/** A part of text. */
export const textPart = (words: string) => ({ type: 'text', text: words }) as const
