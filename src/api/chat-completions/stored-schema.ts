import { type Static, Type } from 'typebox'
import { listSchema, pageParameters, toPage } from '../../http/paging.ts'
import { defineQuery, readPairs } from '../../http/query.ts'
import { checkMetadata, Metadata } from '../../http/metadata.ts'
import { createValidator } from '../../lib/validation/validator.ts'
import type { CompletionQuery } from '../../storage/ports/completions.ts'
import { ChatMessage, ContentPart, ToolCall } from './message-schema.ts'
import { ChatCompletion } from './reply-schema.ts'

/** One page of stored completions. */
export const CompletionList = listSchema(ChatCompletion, 'ChatCompletionList')

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
/** One page of the messages of a stored completion. */
export const MessageList = listSchema(StoredMessage, 'StoredMessageList')

export type DeletedCompletion = Static<typeof DeletedCompletion>
/** The confirmation that a completion was deleted. */
export const DeletedCompletion = Type.Object(
  { id: Type.String(), object: Type.Literal('chat.completion.deleted'), deleted: Type.Literal(true) },
  { title: 'DeletedChatCompletion' },
)

/** The body of an update: only metadata can change, other fields are ignored. */
export const completionUpdate = createValidator(
  Type.Object({ metadata: Metadata }, { title: 'ChatCompletionUpdate' }),
  checkMetadata,
)

/** The filter and the page of a list of completions, without the organization. */
export type ListRequest = Omit<CompletionQuery, 'organization'>

const listQuery = defineQuery({
  model: Type.Optional(Type.String({ description: 'Only chat completions of this model.' })),
  ...pageParameters('chat completion', 'asc'),
})

/** The parameters of the list of completions. */
export const listParameters = {
  ...listQuery.parameters,
  metadata: Type.Unsafe({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Only chat completions whose metadata has all of these pairs. Values are compared as text.',
  }),
}

/** Reads the query string of the list of completions; throws the 400 of an invalid parameter. */
export function readListRequest(request: Request): ListRequest {
  const { model, ...page } = listQuery.read(request)
  return { ...toPage(page), model, metadata: readPairs(request, 'metadata') }
}

/** The parameters of the list of messages. */
export const messagesQuery = defineQuery(pageParameters('message', 'asc'))
