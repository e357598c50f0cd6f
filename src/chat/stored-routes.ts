import { Elysia } from 'elysia'
import { bodyErrors, describe, keyedErrors } from '../http/describe.ts'
import type { Guard } from '../http/guard.ts'
import { toPage } from '../http/paging.ts'
import { chatPath } from './path.ts'
import { ChatCompletion } from './reply-schema.ts'
import {
  CompletionList,
  completionUpdate,
  DeletedCompletion,
  listParameters,
  MessageList,
  messagesQuery,
  readListRequest,
} from './stored-schema.ts'
import type { StoredService } from './stored-service.ts'

const path = { completion_id: 'The id of a stored completion of the organization.' }

const listDetail = describe({
  tag: 'Chat',
  id: 'listChatCompletions',
  summary: 'List the stored chat completions',
  query: listParameters,
  reply: CompletionList,
  errors: [400, ...keyedErrors],
})

const findDetail = describe({
  tag: 'Chat',
  id: 'getChatCompletion',
  summary: 'Show a stored chat completion',
  path,
  reply: ChatCompletion,
  errors: [404, ...keyedErrors],
})

const updateDetail = describe({
  tag: 'Chat',
  id: 'updateChatCompletion',
  summary: 'Replace the metadata of a stored chat completion',
  path,
  body: completionUpdate,
  reply: ChatCompletion,
  errors: [404, ...bodyErrors],
})

const removeDetail = describe({
  tag: 'Chat',
  id: 'deleteChatCompletion',
  summary: 'Delete a stored chat completion',
  path,
  reply: DeletedCompletion,
  errors: [404, ...keyedErrors],
})

const messagesDetail = describe({
  tag: 'Chat',
  id: 'listChatCompletionMessages',
  summary: 'List the messages that a stored chat completion answers',
  path,
  query: messagesQuery.parameters,
  reply: MessageList,
  errors: [400, 404, ...keyedErrors],
})

/** What can be done with completions that were made with `store: true`. */
export function storedRoutes(guard: Guard, service: StoredService) {
  const one = `${chatPath}/:completion_id` as const
  return new Elysia({ name: 'stored-completions' })
    .use(guard)
    .get(
      chatPath,
      async ({ caller, request }) =>
        json(await service.list(caller.organization.id, readListRequest(request))),
      { detail: listDetail },
    )
    .get(
      one,
      async ({ caller, params }) => json(await service.find(caller.organization.id, params.completion_id)),
      {
        detail: findDetail,
      },
    )
    .post(
      one,
      async ({ readBody, request, caller, params }) => {
        const { metadata } = await readBody(request, completionUpdate)
        return json(await service.update(caller.organization.id, params.completion_id, metadata))
      },
      { detail: updateDetail },
    )
    .delete(one, ({ caller, params }) => service.remove(caller.organization.id, params.completion_id), {
      detail: removeDetail,
    })
    .get(
      `${one}/messages`,
      ({ caller, params, request }) =>
        service.messages(caller.organization.id, params.completion_id, toPage(messagesQuery.read(request))),
      { detail: messagesDetail },
    )
}

function json(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/json' } })
}
