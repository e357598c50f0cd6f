import { Elysia } from 'elysia'
import { toDollars } from '../../gateway/billing/price.ts'
import { bodyErrors, describe, type Examples } from '../../http/describe.ts'
import { logError, toApiError } from '../../http/errors.ts'
import { eventStream, type FrameSource, openSource } from '../../http/event-stream.ts'
import type { Guard } from '../../http/guard.ts'
import type { Log } from '../../lib/log.ts'
import { contextOf } from '../generate.ts'
import { completeResponse, streamResponse } from './foreground.ts'
import { responseFrames } from './render/event-schema.ts'
import { renderErrorEvent } from './render/render-response.ts'
import { InputTokens, ResponseObject } from './render/reply-schema.ts'
import { responseRequest } from './request/schema.ts'
import { countInputTokens, queueAndStream, queueRun, type ResponseDependencies } from './service.ts'

/** The path of responses. */
export const responsesPath = '/v1/responses'

const text = { summary: 'A text', value: { model: 'weir/echo', input: 'What is a weir?' } }

/** Requests for the number of input tokens, for the OpenAPI document. */
const countExamples: Examples = { text }

/** Requests for responses, for the OpenAPI document. */
const responseExamples: Examples = {
  text,
  stream: {
    summary: 'A stream',
    value: {
      model: 'weir/echo',
      instructions: 'Answer in one sentence.',
      input: 'What is a weir?',
      stream: true,
    },
  },
  messages: {
    summary: 'A conversation of several messages',
    value: {
      model: 'weir/echo',
      input: [
        { role: 'user', content: 'What is a weir?' },
        { role: 'assistant', content: 'A low dam across a river.' },
        { role: 'user', content: [{ type: 'input_text', text: 'What is it for?' }] },
      ],
    },
  },
  background: {
    summary: 'A background run',
    value: {
      model: 'weir/echo',
      input: 'Write a history of weirs.',
      background: true,
      metadata: { topic: 'rivers' },
    },
  },
}

const createDescription =
  'Generates the response of a model to an input. With `stream`, it is sent as server-sent events. With `background`, it ' +
  'is queued and can be retrieved by its ID. A response is stored unless `store` is false, and can be continued with ' +
  '`previous_response_id`. `warnings` in the response names the parameters that were ignored. If the cost is known, the ' +
  'header `x-weir-cost` has it in USD.'

const createDetail = describe({
  tag: 'Responses',
  id: 'createResponse',
  summary: 'Create a response',
  description: createDescription,
  body: responseRequest,
  examples: responseExamples,
  reply: ResponseObject,
  frames: responseFrames,
  errors: [...bodyErrors, 402, 404, 502],
})

const countDetail = describe({
  tag: 'Responses',
  id: 'countResponseInputTokens',
  summary: 'Count the input tokens of a response',
  description:
    'Estimates the input tokens of a request, including its tools and the conversation that it continues. No provider is called, and nothing is charged.',
  body: responseRequest,
  examples: countExamples,
  reply: InputTokens,
  errors: [...bodyErrors, 404],
})

/**
 * In bytes: a larger body needs a concurrency slot to be read. A smaller one does not, because it may request a
 * background run, which takes its slot when it starts.
 */
const createOptions = { maxWithoutSlot: 64 * 1024 }

/** `POST /v1/responses`, and the token count of such a request. */
export function responseRoutes(guard: Guard, dependencies: ResponseDependencies, log: Log) {
  return new Elysia({ name: 'responses' })
    .use(guard)
    .post(
      responsesPath,
      async ({ readBody, watchKey, caller, admission, record, request, set }) => {
        const body = await readBody(request, responseRequest, { admission, caller }, createOptions)
        const context = contextOf({ caller, admission, record, request, set }, body)
        if (body.background && !body.stream) return queueRun(body, context, dependencies)
        if (body.stream) {
          const start = (onWaiting: () => void) =>
            streamResponse(body, { ...context, onWaiting }, dependencies)
          const stream: FrameSource<unknown> = body.background
            ? await queueAndStream(body, context, dependencies)
            : await openSource(start, { failed: renderFailed })
          return eventStream(logFailure(stream, log, context.requestId), { watch: watchKey(caller.keyId) })
        }
        const { response, cost } = await completeResponse(body, context, dependencies)
        if (cost !== undefined) set.headers['x-weir-cost'] = toDollars(cost)
        return response
      },
      { detail: createDetail },
    )
    .post(
      `${responsesPath}/input_tokens`,
      async ({ readBody, caller, admission, record, request, set }) => {
        const body = await readBody(request, responseRequest, { admission, caller }, { isFree: true })
        return countInputTokens(body, contextOf({ caller, admission, record, request, set }), dependencies)
      },
      { detail: countDetail },
    )
}

/** Renders the failure of a stream whose response has not begun. */
function renderFailed(error: unknown): string {
  const { code, type, message, param } = toApiError(error)
  const event = renderErrorEvent({ code: code ?? type, message, param }, 0)
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`
}

/** Logs the failure of a stream, unless it is the client's own: a disconnect has a status below 500. */
export function logFailure<Item>(source: FrameSource<Item>, log: Log, requestId: string): FrameSource<Item> {
  return {
    ...source,
    failed(error) {
      const apiError = toApiError(error)
      if (apiError.status >= 500) logError(log, apiError, requestId)
      return source.failed(apiError)
    },
  }
}
