import { expect } from 'bun:test'
import type { ProviderSettings } from '../../../../src/config/provider-settings.ts'
import {
  type BillingScenario,
  type BillingScenarioOptions,
  startBillingScenario,
} from '../../../support/billing-scenario.ts'
import { readError, readStreamed } from '../../../support/chat-reply.ts'
import { readEvents } from '../../../support/responses.ts'
import { chatRequest } from '../../../support/scenario.ts'
import { events, json, type Script } from '../../../support/script.ts'
import type { ProtocolFixture } from './protocol-fixtures.ts'

/** One way of asking: which interface, and whether a stream is wanted. */
export type RequestForm = { readonly api: 'chat' | 'responses'; readonly stream: boolean }

/** All of them. */
export const forms: readonly RequestForm[] = [
  { api: 'chat', stream: false },
  { api: 'chat', stream: true },
  { api: 'responses', stream: false },
  { api: 'responses', stream: true },
]

/** Where the error of a failed call is: in the status, or in a stream that has started. */
export type ExpectedError = { readonly status: number; readonly code: string }

/** A gateway for a whole table of faults: prepaid, and with no rest for a provider that fails. */
export function startFaultScenario(
  fixture: ProtocolFixture,
  timeouts: ProviderSettings['timeouts'] = {},
  options: BillingScenarioOptions = {},
): Promise<BillingScenario> {
  return startBillingScenario(normalReply(fixture, false), {
    balance: '1000',
    ...options,
    provider: { kind: fixture.kind, timeouts },
    settings: {
      ...options.settings,
      retries: { attempts: options.other ? 2 : 0 },
      breaker: { failures: 1_000_000, cooldown: '1s' },
      limits: { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000 },
    },
  })
}

/** The default response. */
export function normalReply(fixture: ProtocolFixture, stream: boolean): Script {
  return stream ? events([...fixture.firstFrames, ...fixture.lastFrames]) : json(fixture.complete)
}

/** Sends the default request. */
export function sendRequest(
  { app }: BillingScenario,
  { api, stream }: RequestForm,
  more: object = {},
): Promise<Response> {
  if (api === 'chat') return app.chat({ ...chatRequest, stream, ...more })
  const { model, messages } = chatRequest
  return app.request('/v1/responses', { body: { model, input: messages, stream, ...more } })
}

/** The reply is the error, and no stream was started. */
export async function expectError(response: Response, { status, code }: ExpectedError): Promise<void> {
  expect(response.headers.get('content-type')).toStartWith('application/json')
  expect(await readError(response)).toMatchObject({ status, code, message: expect.stringMatching(/\S/) })
}

/** The reply starts like the response and ends with the error: nothing in it looks complete. */
export async function expectBrokenStream(
  response: Response,
  { api }: RequestForm,
  code: string,
): Promise<void> {
  expect(response.status).toBe(200)
  if (api === 'responses') return expectFailedEvents(response, code)
  const { text, error, done } = await readStreamed(response)
  expect(text).toContain('It is ')
  expect([error?.code, done]).toEqual([code, false])
  expect(text).not.toMatch(/"finish_reason":"|\[DONE\]/)
}

async function expectFailedEvents(response: Response, code: string): Promise<void> {
  const { events, types, last } = await readEvents(response)
  expect(types.slice(-2)).toEqual(['error', 'response.failed'])
  expect(types).not.toContain('response.completed')
  expect(events.at(-2)).toMatchObject({ code })
  expect(last).toMatchObject({ status: 'failed', output: [{ status: 'incomplete' }] })
}

/** The reply is the default response. */
export async function expectComplete(
  response: Response,
  { api, stream }: RequestForm,
  text: string,
): Promise<void> {
  expect(response.status).toBe(200)
  const body = await response.text()
  expect(body).toContain(text)
  if (stream) expect(body).toMatch(api === 'chat' ? /data: \[DONE\]\n\n$/ : /"type":"response.completed"/)
  expect(body).not.toContain('"error":{')
}

/** The id of a request, by the reply to it. */
export function idOf({ headers }: Response): string {
  return headers.get('x-request-id') ?? ''
}

/** Checks the billing of a call: the usage row, the charge and the balance agree, and no reservation is open. */
export async function expectSettled({ billing }: BillingScenario, id: string, row: object): Promise<void> {
  const found = await billing.usageOf(id)
  expect(found).toMatchObject(row)
  const { charge = 0 } = await billing.entriesOf(id)
  expect(1 - charge).toBe(1 + (found?.cost ?? 0))
  expect(await billing.openReservations()).toBe(0)
  await billing.expectConsistent()
}

/** The gateway has recovered: no upstream connection is open, and it serves requests. */
export async function expectHealthy(scenario: BillingScenario, fixture: ProtocolFixture): Promise<void> {
  await scenario.acme.idle()
  scenario.acme.respondWith(normalReply(fixture, false))
  await expectComplete(
    await sendRequest(scenario, { api: 'chat', stream: false }),
    { api: 'chat', stream: false },
    'four metres.',
  )
  expect((await scenario.billing.account())[1]).toBe(0)
}
