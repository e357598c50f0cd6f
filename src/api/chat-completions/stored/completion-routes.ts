import { Elysia } from 'elysia'
import { bodyErrors, describe, keyedErrors } from '../../../http/openapi/describe.ts'
import type { Guard } from '../../../http/guard.ts'
import { jsonReply } from '../../../http/json-reply.ts'
import { toPage } from '../../../http/paging.ts'
import { chatPath } from '../path.ts'
import { ChatCompletion } from '../reply-schema.ts'
import {
  CompletionList,
  completionUpdate,
  DeletedCompletion,
  listParameters,
  MessageList,
  messagesQuery,
  readListRequest,
} from './schema.ts'
import type { StoredService } from './service.ts'

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
  return new Elysia({ name: 'stored-completions' }).use(lists(guard, service)).use(completion(guard, service))
}

const one = `${chatPath}/:completion_id` as const

function lists(guard: Guard, service: StoredService) {
  return new Elysia({ name: 'stored-completion-lists' })
    .use(guard)
    .get(
      chatPath,
      async ({ caller: { organization }, request, admission }) => {
        const page = service.list(organization.id, readListRequest(request), admission.memory.take)
        return jsonReply(await page, { request, admission })
      },
      { detail: listDetail },
    )
    .get(
      `${one}/messages`,
      async ({ caller, params: { completion_id: id }, request, admission }) => {
        const asked = toPage(messagesQuery.read(request))
        const page = service.messages(caller.organization.id, id, asked, admission.memory.take)
        return jsonReply(await page, { request, admission })
      },
      { detail: messagesDetail },
    )
}

function completion(guard: Guard, service: StoredService) {
  return new Elysia({ name: 'stored-completion' })
    .use(guard)
    .get(
      one,
      async ({ caller: { organization }, request, admission, params }) => {
        const found = service.find(organization.id, params.completion_id, admission.memory.take)
        return jsonReply(await found, { request, admission })
      },
      { detail: findDetail },
    )
    .post(
      one,
      async ({ readBody, request, caller: { organization }, admission, params: { completion_id: id } }) => {
        const { metadata } = await readBody(request, completionUpdate, admission)
        const updated = service.update(organization.id, id, metadata, admission.memory.take)
        return jsonReply(await updated, { request, admission })
      },
      { detail: updateDetail },
    )
    .delete(one, ({ caller, params }) => service.remove(caller.organization.id, params.completion_id), {
      detail: removeDetail,
    })
}
