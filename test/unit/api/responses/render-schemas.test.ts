import { expect, test } from 'bun:test'
import { ChatCompletion, ChatCompletionChunk } from '../../../../src/api/chat-completions/reply-schema.ts'
import { createComponents } from '../../../../src/http/openapi.ts'
import { ErrorBody } from '../../../../src/http/schema.ts'
import type { Json } from '../../../../src/lib/json/json.ts'
import { ResponseStreamEvent } from '../../../../src/api/responses/render/event-schema.ts'
import {
  DeletedResponse,
  InputItemList,
  ResponseObject,
} from '../../../../src/api/responses/render/reply-schema.ts'

test('the schemas of responses are in one document with those of chat completions, under their own names', () => {
  const components = createComponents()
  const schemas = [ChatCompletion, ChatCompletionChunk, ErrorBody, ResponseObject, ResponseStreamEvent]
  for (const schema of [...schemas, DeletedResponse, InputItemList]) {
    components.hoist(JSON.parse(JSON.stringify(schema)) as Json)
  }
  const names = Object.keys(components.schemas())
  expect(names).toContain('Usage')
  expect(names.filter((name) => /Response/.test(name))).toEqual([
    'DeletedResponse',
    'Response',
    'ResponseAnnotation',
    'ResponseCallDeltaEvent',
    'ResponseContentPartEvent',
    'ResponseCustomToolCall',
    'ResponseCustomToolCallInputDoneEvent',
    'ResponseError',
    'ResponseErrorEvent',
    'ResponseFunctionCall',
    'ResponseFunctionCallArgumentsDoneEvent',
    'ResponseInputItemList',
    'ResponseOutputItemEvent',
    'ResponseOutputMessage',
    'ResponseOutputText',
    'ResponseReasoningItem',
    'ResponseSnapshotEvent',
    'ResponseStreamEvent',
    'ResponseSummaryPartEvent',
    'ResponseSummaryText',
    'ResponseSummaryTextDeltaEvent',
    'ResponseSummaryTextDoneEvent',
    'ResponseTextDeltaEvent',
    'ResponseTextDoneEvent',
    'ResponseUsage',
  ])
})
