import type { App, RequestOptions } from '../../support/app.ts'
import {
  type BillingScenario,
  type BillingScenarioOptions,
  startBillingScenario,
} from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import type { Script } from '../../support/script.ts'

export const adminKey = 'an-admin-key-for-tests'

export type AdminReply = { readonly status: number; readonly body: Readonly<Record<string, unknown>> }

/** Starts a prepaid gateway with an admin key. */
export function startAdmin(
  scripts: Script | readonly Script[] = jsonReply(),
  options: BillingScenarioOptions = {},
): Promise<BillingScenario> {
  return startBillingScenario(scripts, { environment: { WEIR_ADMIN_KEY: adminKey }, ...options })
}

/** Sends a request to the admin API, with the admin key unless the options have another one. */
export async function requestAdmin(
  app: App,
  method: string,
  path: string,
  { headers = {}, ...options }: RequestOptions = {},
): Promise<AdminReply> {
  const authorization = `Bearer ${adminKey}`
  const reply = await app.request(`/admin/${path}`, {
    method,
    headers: { authorization, ...headers },
    ...options,
  })
  return { status: reply.status, body: (await reply.json()) as AdminReply['body'] }
}

/** The lines of the log about changes of the operator, without their times. */
export function adminLines({ lines }: App): readonly Readonly<Record<string, unknown>>[] {
  return lines
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    .filter((line) => 'admin' in line)
    .map((line) =>
      Object.fromEntries(
        Object.entries(line).filter(([name]) => !['time', 'level', 'message'].includes(name)),
      ),
    )
}
