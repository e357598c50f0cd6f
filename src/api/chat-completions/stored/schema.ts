import { type Static, Type } from 'typebox'
import { pageOf, pageParameters, toPage } from '../../../http/paging.ts'
import { pairsIn, queryOf } from '../../../http/query.ts'
import { checkMetadata, Metadata } from '../../../http/metadata.ts'
import { contract } from '../../../lib/validation/contract.ts'
import type { CompletionQuery } from '../../../storage/ports/completions.ts'
import { ChatCompletion } from '../reply-schema.ts'
import { ChatMessage, ContentPart, ToolCall } from '../schema.ts'

/** One page of stored completions. */
export const CompletionList = pageOf(ChatCompletion, 'ChatCompletionList')

export type StoredMessage = Static<typeof StoredMessage>
/** A message of the request that a stored completion answers. */
export const StoredMessage = Type.Object(
  {
    id: Type.String(),
    role: ChatMessage.properties.role,
    content: Type.Union([Type.String(), Type.Array(ContentPart), Type.Null()]),
    name: Type.Optional(Type.String()),
    tool_calls: Type.Optional(Type.Array(ToolCall)),
    tool_call_id: Type.Optional(Type.String()),
  },
  { title: 'StoredMessage' },
)

export type MessageList = Static<typeof MessageList>
/** One page of such messages. */
export const MessageList = pageOf(StoredMessage, 'StoredMessageList')

export type DeletedCompletion = Static<typeof DeletedCompletion>
/** What is said of a completion that is gone. */
export const DeletedCompletion = Type.Object(
  { id: Type.String(), object: Type.Literal('chat.completion.deleted'), deleted: Type.Literal(true) },
  { title: 'DeletedChatCompletion' },
)

/** The only change of a stored completion; other fields of the body are left alone. */
export const completionUpdate = contract(
  Type.Object({ metadata: Metadata }, { title: 'ChatCompletionUpdate' }),
  checkMetadata,
)

/** Which completions a list tells, but for whose. */
export type ListRequest = Omit<CompletionQuery, 'organization'>

const listQuery = queryOf({
  model: Type.Optional(Type.String({ description: 'Only completions of this model.' })),
  ...pageParameters('completion', 'asc'),
})

/** The parameters of the list of completions. */
export const listParameters = {
  ...listQuery.parameters,
  metadata: Type.Unsafe({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Only completions whose metadata has all these pairs; values are compared as text.',
  }),
}

/** What the query string of such a list says. */
export function readListRequest(request: Request): ListRequest {
  const { model, ...given } = listQuery.read(request)
  return { ...toPage(given), model, metadata: pairsIn(request, 'metadata') }
}

/** The parameters of the list of messages. */
export const messagesQuery = queryOf(pageParameters('message', 'asc'))
