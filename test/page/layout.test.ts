import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import type { BillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { createResponse } from '../support/responses.ts'
import { chatRequest } from '../support/scenario.ts'
import { storeCompletion } from '../support/stored-completions.ts'
import { fillUsage } from '../support/usage-rows.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { layoutProblems, sizes } from './support/layout.ts'
import { connected } from './support/live.ts'
import { openAdmin } from './support/open-admin.ts'
import { screenshots } from './support/screenshot.ts'
import { spendBudget } from './support/spend-budget.ts'

const browser = sharedTab()
const secret = `whsec_${Buffer.alloc(32, 7).toBase64()}`
const longName = 'a team with quite a long name in the department of hydrology'

/** A place of the page, and a text that it shows once it has loaded. */
type Place = readonly [place: string, text: string | RegExp]

/** A gateway with data in every view, and one without. */
let full: BillingScenario
let empty: BillingScenario
const ids = { organization: '', project: '', key: '', completion: '', response: '', bare: '' }

beforeAll(async () => {
  if (!hasBrowser) return
  const webhook = { name: 'alerts', url: 'http://127.0.0.1:9/weir', secret, allow_private: true }
  full = await startAdmin(jsonReply(), { settings: { webhooks: [webhook] } })
  empty = await startAdmin()
  await fill(full)
  ids.bare = await create(empty, 'organizations', { name: 'bare' })
}, 120_000)
afterAll(async () => {
  await full?.[Symbol.asyncDispose]()
  await empty?.[Symbol.asyncDispose]()
})

async function fill(paid: BillingScenario): Promise<void> {
  const budget = { budget_usd: '50', budget_period: 'month' }
  for (const name of ['acme', longName]) await create(paid, 'organizations', { name, ...budget })
  const owner = { organization: 'default' }
  ids.project = await create(paid, 'projects', { ...owner, name: 'search', ...budget })
  const key = { ...owner, tags: ['ci', 'nightly'], note: 'Runs at night.' }
  ids.key = await create(paid, 'keys', { ...key, name: 'production', project: ids.project, budget_usd: '50' })
  await create(paid, 'keys', { ...key, name: longName, expires_in: '90d', models: ['acme/*', 'weir/*'] })
  await spendBudget(paid.billing, ids.key, { spent: '20', held: '2.5' })
  const { body } = await requestAdmin(paid.app, 'GET', 'organizations/default')
  ids.organization = String(body.id)
  await requestAdmin(paid.app, 'POST', 'organizations/default/credit', { body: { amount: '1249.407828183' } })
  ids.completion = (await storeCompletion(paid.app, { metadata: { gauge: 'g7', place: longName } })).id
  ids.response = (await createResponse(paid.app)).id
  const now = Date.now()
  await fillUsage(paid.billing, {
    rows: 400,
    from: now - 3_600_000,
    to: now,
    organizations: [ids.organization],
  })
}

async function create({ app }: BillingScenario, path: string, body: object): Promise<string> {
  return String((await requestAdmin(app, 'POST', path, { body })).body.id)
}

/** Opens the page with the admin key, and with an API key before it, and returns what is wrong in each place at each size. */
async function problemsOf(
  paid: BillingScenario,
  name: string,
  places: readonly Place[],
  start = `#key=${paid.app.key}`,
): Promise<string[]> {
  const expected = /status of 40[14]/
  await using opened = await openAdmin(await browser(), paid.app, start, { expected })
  const { page } = opened
  const problems: string[] = []
  await page.locator('#main h1').waitFor()
  for (const [place, text] of places) {
    await page.goto(`${paid.app.url}/#/${place}`)
    await page.locator('#main').getByText(text).first().waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    problems.push(...(await problemsAtEachSize(page, place)))
    await screenshots(page, `${name}-${place.replace(/\W+/g, '-').slice(0, 40)}`)
  }
  return problems
}

async function problemsAtEachSize(page: Page, place: string): Promise<string[]> {
  const problems: string[] = []
  for (const size of sizes) {
    await page.setViewportSize(size)
    for (const problem of await layoutProblems(page))
      problems.push(`${place} at ${size.width} px: ${problem}`)
  }
  return problems
}

describe.skipIf(!hasBrowser)(`the layout of the page${browserNeeded}`, () => {
  test('every view with data fits a phone and two screens, and every control is in sight and has words', async () => {
    const places: readonly Place[] = [
      ['playground', 'Parameters'],
      ['models', /enabled models?\./],
      ['models/acme/river', 'acme/river'],
      ['usage', /All requests since/],
      ['usage?by=model', 'By model'],
      ['stored', '1 in all.'],
      ['stored/responses', '1 in all.'],
      [`stored/completions/${ids.completion}`, 'It is four metres.'],
      [`stored/completions/${ids.completion}?tab=json`, /"object"/],
      [`stored/responses/${ids.response}`, 'It is four metres.'],
      [`stored/responses/${ids.response}?tab=replay`, 'Replay'],
      ['limits', 'Rate limits'],
      ['organizations', '3 in all.'],
      [`organizations/${ids.organization}`, /All requests since/],
      [`organizations/default/projects/${ids.project}`, '1 in all.'],
      ['keys', '3 in all.'],
      [`keys/${ids.key}`, 'Runs at night.'],
      ['providers', 'acme'],
      ['providers/acme', 'Routes'],
      ['overview', 'Near their end'],
      ['webhooks', 'No event has been sent yet.'],
      ['requests', 'Filter by'],
      ['nowhere', 'There is no such view'],
    ]
    expect(await problemsOf(full, 'full', places)).toEqual([])
  }, 240_000)

  test('every empty view fits them, too, and says what to do next', async () => {
    const places: readonly Place[] = [
      ['models?q=nothing', 'No enabled model matches'],
      ['usage', 'No requests in the last'],
      ['stored', 'No completions are stored'],
      ['stored/responses', 'No responses are stored'],
      ['stored?model=acme%2Fnothing', 'Nothing matches the filter'],
      ['organizations?q=nothing', 'No organization matches'],
      [`organizations/${ids.bare}`, 'No project yet'],
      ['keys?q=nothing', 'No API key matches'],
      ['providers/nothing', 'There is no such provider'],
      ['live', 'No requests yet'],
    ]
    expect(await problemsOf(empty, 'empty', places)).toEqual([])
  }, 240_000)

  test('the views fit with the admin key alone, and say what to do next', async () => {
    const places: readonly Place[] = [
      ['playground', 'This view needs an API key'],
      ['usage', 'No requests in the last'],
      ['usage?range=30d', 'No requests in the last'],
      ['organizations', '2 in all.'],
      ['keys', '1 in all.'],
      ['providers', 'acme'],
      ['live', 'No requests yet'],
    ]
    expect(await problemsOf(empty, 'operator', places, '#/keys')).toEqual([])
  }, 240_000)

  test('the live requests, the dialogs and the menu of a phone fit as well', async () => {
    const expected = /status of 40[14]/
    await using opened = await openAdmin(await browser(), full.app, '#/live', { expected })
    const { page } = opened
    await page.getByText('No requests yet').waitFor()
    await connected(page)
    await (await full.app.chat(chatRequest)).text()
    await page.getByText('0 in progress, 1 finished').waitFor()
    expect(await problemsAtEachSize(page, 'live')).toEqual([])
    await screenshots(page, 'full-live')
    for (const view of ['organizations', 'keys']) {
      await page.goto(`${full.app.url}/#/${view}`)
      await page.getByText('3 in all.').waitFor()
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByRole('dialog').waitFor()
      expect(await problemsAtEachSize(page, `the dialog of ${view}`)).toEqual([])
      await screenshots(page, `dialog-${view}`)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.goto(`${full.app.url}/#/playground`)
    await page.getByText('This view needs an API key').waitFor()
    expect(await problemsAtEachSize(page, 'a view without its key')).toEqual([])
    await page.setViewportSize(sizes[0])
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await layoutProblems(page)).toEqual([])
  }, 240_000)
})
