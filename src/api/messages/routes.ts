import { Elysia } from 'elysia'
import { toDollars } from '../../gateway/billing/price.ts'
import { AnthropicErrorBody, toAnthropicBody } from '../../http/anthropic-error.ts'
import { bodyErrors, describe, type Examples } from '../../http/describe.ts'
import { streamError } from '../../http/errors.ts'
import { eventStream, openSource } from '../../http/event-stream.ts'
import type { Guard } from '../../http/guard.ts'
import type { Log } from '../../lib/log.ts'
import { contextOf, type GenerationDependencies } from '../generate.ts'
import type { MessageHeaders } from './lower.ts'
import { pingFrame } from './message-stream.ts'
import { countTokens } from './prepare-message.ts'
import { MessageObject, MessageStreamEvent, TokenCount } from './reply-schema.ts'
import { countTokensRequest, messageRequest } from './schema.ts'
import { completeMessage, streamMessage } from './service.ts'

/** The path of the Messages API. */
export const messagesPath = '/v1/messages'

const messages = [{ role: 'user', content: 'What is a weir?' }]

/** Requests for messages, for the OpenAPI document. */
const messageExamples: Examples = {
  text: { summary: 'A text', value: { model: 'weir/echo', max_tokens: 1024, messages } },
  stream: {
    summary: 'A stream',
    value: {
      model: 'weir/echo',
      max_tokens: 1024,
      system: 'Answer in one sentence.',
      messages,
      stream: true,
    },
  },
}

/** Requests for token counts, for the OpenAPI document. */
const countTokensExamples: Examples = {
  text: { summary: 'A text', value: { model: 'weir/echo', messages } },
}

const common = { tag: 'Messages', error: AnthropicErrorBody } as const

const createDetail = describe({
  ...common,
  id: 'createMessage',
  summary: 'Create a message',
  description:
    'Generates a message with any model, as the Messages API of Anthropic does. Anthropic providers receive the request unchanged; for others it is translated. The key is accepted in `x-api-key`, too.',
  body: messageRequest,
  examples: messageExamples,
  reply: MessageObject,
  frames: { schema: MessageStreamEvent, end: '`event: message_stop`' },
  errors: [...bodyErrors, 402, 404, 502],
})

const countDetail = describe({
  ...common,
  id: 'countMessageTokens',
  summary: 'Count the tokens of a message',
  description:
    'Counts the input tokens of a request, without charge. Anthropic counts them for its own models; for others they are estimated.',
  body: countTokensRequest,
  examples: countTokensExamples,
  reply: TokenCount,
  errors: [...bodyErrors, 404],
})

/** `POST /v1/messages` and `POST /v1/messages/count_tokens`. */
export function messageRoutes(guard: Guard, dependencies: GenerationDependencies, log: Log) {
  return new Elysia({ name: 'messages' })
    .use(guard)
    .post(
      messagesPath,
      async ({ readBody, watchKey, caller, admission, record, request, set }) => {
        const body = await readBody(request, messageRequest, { admission, caller })
        const context = contextOf({ caller, admission, record, request, set }, body)
        const headers = headersOf(request)
        if (body.stream) {
          const failed = (error: unknown) => errorFrame(error, log, context.requestId)
          const start = (onWaiting: () => void) =>
            streamMessage(body, headers, { ...context, onWaiting }, dependencies)
          const source = await openSource(start, { failed, keepAlive: pingFrame })
          return eventStream(source, { watch: watchKey(caller.keyId) })
        }
        const { message, cost } = await completeMessage(body, headers, context, dependencies)
        if (cost !== undefined) set.headers['x-weir-cost'] = toDollars(cost)
        return message
      },
      { detail: createDetail },
    )
    .post(
      `${messagesPath}/count_tokens`,
      async ({ readBody, caller, admission, request, record }) => {
        const body = await readBody(request, countTokensRequest, { admission, caller }, { isFree: true })
        const { signal } = request
        const call = { limits: caller.limits, signal, stopwatch: record.upstreamStopwatch }
        return { input_tokens: await countTokens(body, headersOf(request), call, dependencies) }
      },
      { detail: countDetail },
    )
}

function headersOf({ headers }: Request): MessageHeaders {
  const version = headers.get('anthropic-version') ?? ''
  return {
    version: /^\d{4}-\d{2}-\d{2}$/.test(version) ? version : undefined,
    beta: headers.get('anthropic-beta') ?? undefined,
  }
}

/** The frame of an error in the middle of a stream. It is the last one, so that a broken stream never looks complete. */
function errorFrame(error: unknown, log: Log, requestId: string): string {
  const body = toAnthropicBody(streamError(error, log, requestId), requestId)
  return `event: error\ndata: ${JSON.stringify(body)}\n\n`
}
