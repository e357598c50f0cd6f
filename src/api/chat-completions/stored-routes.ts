import { Elysia } from 'elysia'
import { bodyErrors, describe, guardErrors } from '../../http/describe.ts'
import type { Guard } from '../../http/guard.ts'
import { toPage } from '../../http/paging.ts'
import { jsonReply } from '../../http/reply.ts'
import { updateExamples } from './examples.ts'
import { ChatCompletion } from './reply-schema.ts'
import { chatPath } from './routes.ts'
import type { CompletionService } from './stored-completions.ts'
import {
  CompletionList,
  completionUpdate,
  DeletedCompletion,
  listParameters,
  MessageList,
  messagesQuery,
  readListRequest,
} from './stored-schema.ts'

const pathParameters = { completion_id: 'The ID of a stored chat completion, such as `chatcmpl-…`.' }

const listDetail = describe({
  tag: 'Chat',
  id: 'listChatCompletions',
  summary: 'List stored chat completions',
  description:
    'Lists the chat completions of the organization that were created with `store`. The filters are combined.',
  query: listParameters,
  reply: CompletionList,
  errors: [400, ...guardErrors],
})

const findDetail = describe({
  tag: 'Chat',
  id: 'getChatCompletion',
  summary: 'Get a stored chat completion',
  description: 'Returns a chat completion that was created with `store`, with its metadata.',
  path: pathParameters,
  reply: ChatCompletion,
  errors: [404, ...guardErrors],
})

const updateDetail = describe({
  tag: 'Chat',
  id: 'updateChatCompletion',
  summary: 'Update a stored chat completion',
  description: 'Replaces the metadata of a stored chat completion. Nothing else of it can be changed.',
  path: pathParameters,
  body: completionUpdate,
  examples: updateExamples,
  reply: ChatCompletion,
  errors: [404, ...bodyErrors],
})

const removeDetail = describe({
  tag: 'Chat',
  id: 'deleteChatCompletion',
  summary: 'Delete a stored chat completion',
  description: 'Deletes a stored chat completion with its messages. This cannot be undone.',
  path: pathParameters,
  reply: DeletedCompletion,
  errors: [404, ...guardErrors],
})

const messagesDetail = describe({
  tag: 'Chat',
  id: 'listChatCompletionMessages',
  summary: 'List the messages of a stored chat completion',
  description: 'Lists the messages of the request that created a stored chat completion.',
  path: pathParameters,
  query: messagesQuery.parameters,
  reply: MessageList,
  errors: [400, 404, ...guardErrors],
})

/** The routes of completions that were created with `store: true`. */
export function completionRoutes(guard: Guard, service: CompletionService) {
  return new Elysia({ name: 'stored-completions' })
    .use(listRoutes(guard, service))
    .use(itemRoutes(guard, service))
}

const itemPath = `${chatPath}/:completion_id` as const

function listRoutes(guard: Guard, service: CompletionService) {
  return new Elysia({ name: 'stored-completion-lists' })
    .use(guard)
    .get(
      chatPath,
      async ({ caller: { organization }, request, admission }) => {
        const completions = service.list(organization.id, readListRequest(request), admission.memory.acquire)
        return jsonReply(await completions, { request, admission })
      },
      { detail: listDetail },
    )
    .get(
      `${itemPath}/messages`,
      async ({ caller, params: { completion_id: id }, request, admission }) => {
        const page = toPage(messagesQuery.read(request))
        const messages = service.messages(caller.organization.id, id, page, admission.memory.acquire)
        return jsonReply(await messages, { request, admission })
      },
      { detail: messagesDetail },
    )
}

function itemRoutes(guard: Guard, service: CompletionService) {
  return new Elysia({ name: 'stored-completion' })
    .use(guard)
    .get(
      itemPath,
      async ({ caller: { organization }, request, admission, params }) => {
        const found = service.find(organization.id, params.completion_id, admission.memory.acquire)
        return jsonReply(await found, { request, admission })
      },
      { detail: findDetail },
    )
    .post(
      itemPath,
      async ({ readBody, request, caller, admission, params: { completion_id: id } }) => {
        const { metadata } = await readBody(
          request,
          completionUpdate,
          { admission, caller },
          { isFree: true },
        )
        const updated = service.update(caller.organization.id, id, metadata, admission.memory.acquire)
        return jsonReply(await updated, { request, admission })
      },
      { detail: updateDetail },
    )
    .delete(itemPath, ({ caller, params }) => service.remove(caller.organization.id, params.completion_id), {
      detail: removeDetail,
    })
}
