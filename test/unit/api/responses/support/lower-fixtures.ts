import { ApiError } from '../../../../../src/lib/errors/errors.ts'
import { inputItems, type Item } from '../../../../../src/api/responses/request/items.ts'
import { lower } from '../../../../../src/api/responses/request/lower.ts'
import type { LoweredRequest } from '../../../../../src/gateway/models/prepare-generation.ts'
import { responseRequest } from '../../../../../src/api/responses/request/schema.ts'
import type { ToolOptions } from '../../../../../src/api/responses/request/tools.ts'

const responseId = `resp_${'0'.repeat(32)}`

/** The lowered form of a request with this text, after the context. */
export function lowered(
  patch: object,
  context: readonly Item[] = [],
  options: Partial<ToolOptions> = {},
): LoweredRequest {
  const request = responseRequest.read({ model: 'a', input: 'Hello', ...patch })
  const conversation = { context, input: inputItems(request.input, responseId) }
  return lower(request, conversation, { functionTools: false, unsupported: 'reject', ...options })
}

/** The refusal of such a request. */
export function rejection(
  patch: object,
  context: readonly Item[] = [],
  options: Partial<ToolOptions> = {},
): ApiError {
  try {
    lowered(patch, context, options)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('Nothing was refused.')
}

/** A part of text. */
export const textPart = (words: string) => ({ type: 'text', text: words }) as const
