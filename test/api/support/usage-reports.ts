import type { App } from '../../support/app.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'

/** In milliseconds. */
export const day = 86_400_000

export const usagePath = '/v1/organization/usage/completions'
export const costsPath = '/v1/organization/costs'

export const adminKey = 'an-admin-key-for-tests'

export type Headers = { readonly authorization: string }

export type ReportScenario = AsyncDisposable & {
  readonly paid: BillingScenario
  /** The headers of another organization than that of the first key, and of the operator. */
  readonly globex: Headers
  readonly admin: Headers
}

/** Starts a prepaid gateway that has two organizations, `default` and `globex`, and an admin key. */
export async function startReports(): Promise<ReportScenario> {
  const paid = await startBillingScenario(jsonReply(), { environment: { WEIR_ADMIN_KEY: adminKey } })
  await paid.billing.fund('globex', '1')
  return {
    paid,
    globex: { authorization: `Bearer ${await paid.billing.keyOf('globex')}` },
    admin: { authorization: `Bearer ${adminKey}` },
    [Symbol.asyncDispose]: () => paid[Symbol.asyncDispose](),
  }
}

/** Sends the minimal request that many times; throws where the status is not 200. */
export async function chatTimes(
  { app, billing }: BillingScenario,
  times: number,
  body = {},
  headers = {},
): Promise<void> {
  const before = await billing.count('usage')
  for (let index = 0; index < times; index++) {
    const reply = await app.chat({ ...chatRequest, ...body }, { headers })
    if (reply.status !== 200) throw new Error(`No reply: ${await reply.text()}`)
    await reply.arrayBuffer()
  }
  await billing.waitForUsage(before + times)
}

/** A list is sent as several parameters of one name; undefined and null are not sent. */
export type ReportQuery = Readonly<Record<string, string | number | readonly string[] | null | undefined>>

type Result = Readonly<Record<string, unknown>>

export type ReportBody = {
  readonly data: readonly {
    readonly start_time: number
    readonly end_time: number
    readonly results: readonly Result[]
  }[]
  readonly has_more: boolean
  readonly next_page: string | null
}

/** Requests a report with the first key, or with other headers. */
export function requestReport(
  app: App,
  path: string,
  query: ReportQuery = {},
  headers = {},
): Promise<Response> {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value == null
      ? []
      : [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`),
  )
  return app.request(`${path}?${pairs.join('&')}`, { headers })
}

/** Requests a report and parses it; throws where the status is not 200. */
export async function readReport(
  app: App,
  path: string,
  query: ReportQuery = {},
  headers = {},
): Promise<ReportBody> {
  const reply = await requestReport(app, path, query, headers)
  if (reply.status !== 200) throw new Error(`No report: ${await reply.text()}`)
  return (await reply.json()) as ReportBody
}

/** The results of all buckets of a page. */
export function resultsOf({ data }: ReportBody): readonly Result[] {
  return data.flatMap(({ results }) => results)
}

/** The id of an organization in the database. */
export async function organizationId({ billing }: BillingScenario, name: string): Promise<string> {
  const [[id] = []] = await billing.values('SELECT id FROM organizations WHERE name = ?', name)
  return String(id)
}
