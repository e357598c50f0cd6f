import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { nearEnds } from '../../src/page/views/overview/near-end.ts'
import { errorRate } from '../../src/page/views/overview/today.ts'
import type { ApiKey } from '../../src/page/api/objects.ts'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import type { BillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { type Engine, restartEngine, startEngine } from '../support/engine.ts'
import { chatRequest } from '../support/scenario.ts'
import { json } from '../support/script.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openAdmin } from './support/open-admin.ts'
import { screenshots } from './support/screenshot.ts'

const browser = sharedTab()
const failure = json({ error: { message: 'swordfish' } }, { status: 500 })

/** A gateway with one request that succeeded, one that failed, and an engine that is discovered. */
async function startBusy(engine: Engine) {
  const box = { kind: 'vllm', base_url: engine.url, discover: true }
  const paid = await startAdmin([jsonReply(), failure], {
    model: { pricing: { input: 1, output: 2 } },
    settings: { providers: { box }, retries: { attempts: 0 } },
  })
  for (let count = 0; count < 2; count++) await (await paid.app.chat(chatRequest)).text()
  const day = 24 * 3_600_000
  const create = (path: string, body: object) => requestAdmin(paid.app, 'POST', path, { body })
  await create('keys', {
    organization: 'default',
    name: 'last-days',
    expires_at: new Date(Date.now() + 3.5 * day).toISOString(),
  })
  await create('keys', {
    organization: 'default',
    name: 'next-month',
    expires_at: new Date(Date.now() + 30 * day).toISOString(),
  })
  await create('keys', { organization: 'default', name: 'nothing-left', budget_usd: '0' })
  await create('organizations', { name: 'poor', billing: 'prepaid' })
  return paid
}

/** The labels of the facts that are wider than their place. */
const overflowingFacts = (page: Page) =>
  page.locator('.facts > div').evaluateAll((facts) =>
    facts.flatMap((fact) => {
      const value = fact.querySelector('dd')
      return value !== null && value.scrollWidth > value.clientWidth ? [fact.textContent] : []
    }),
  )

const widthOf = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

/** Adds so many organizations and keys, of which some have exhausted their budgets. */
async function addMany({ rows }: BillingScenario['billing']) {
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)'
  await rows(`${numbers} INSERT INTO organizations (id, name, created_at, budget)
    SELECT 'org_' || i, 'many ' || i, 1, CASE WHEN i = 7 THEN 0 END FROM n`)
  await rows(`${numbers} INSERT INTO api_keys (public_id, organization_id, name, secret_hash, last4, created_at, budget)
    SELECT 'many' || i, 'org_' || i, 'key ' || i, '', '', 1, CASE WHEN i > 850 THEN 0 END FROM n`)
}

describe.skipIf(!hasBrowser)(`the overview${browserNeeded}`, () => {
  test('is the first view of an operator: figures of today, what fails, and what ends soon', async () => {
    const engine = startEngine()
    await using _ = { [Symbol.asyncDispose]: engine.stop }
    await using paid = await startBusy(engine)
    await using opened = await openAdmin(await browser(), paid.app, '')
    const { page } = opened
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    const today = page.getByRole('region', { name: /^Today/ })
    await today.getByText('50%').waitFor()
    await today.getByText('high').waitFor()
    await page.getByRole('region', { name: 'Problem of acme' }).getByText('is failing').waitFor()
    const ends = page.getByRole('region', { name: /^Near their end/ }).last()
    expect(await ends.getByRole('row', { name: /last-days/ }).innerText()).toContain('It expires in 3 days')
    expect(await ends.getByRole('row', { name: /nothing-left/ }).innerText()).toMatch(
      /ended\s+The budget is exhausted/,
    )
    expect(await ends.getByRole('row', { name: /poor/ }).innerText()).toContain('The balance is exhausted')
    expect(await ends.getByRole('row', { name: /next-month/ }).count()).toBe(0)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'overview')
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await widthOf(page)).toBeLessThanOrEqual(0)
    }
    await ends.getByRole('link', { name: 'last-days' }).click()
    await page.getByRole('heading', { name: 'last-days', level: 1 }).waitFor()
    await page.goto(`${paid.app.url}/#/overview`)
    const day = new Date().toISOString().slice(0, 10)
    expect(await today.getByRole('link', { name: '50%' }).getAttribute('href')).toBe(
      `#/requests?from=${day}&to=${day}&status=5xx`,
    )
    await today.getByRole('link', { name: '2', exact: true }).click()
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    expect(page.url()).toContain(`#/usage?from=${day}&to=${day}`)
  })

  test('an engine that was stopped is failing after its test, with what to do, and responds once it is back', async () => {
    let now = 0
    let engine = startEngine()
    await using _ = { [Symbol.asyncDispose]: () => engine.stop() }
    const box = { kind: 'vllm', base_url: engine.url, discover: true }
    await using paid = await startAdmin(jsonReply(), { settings: { providers: { box } }, clock: () => now })
    await using opened = await openAdmin(await browser(), paid.app, '#/providers/box')
    const { page } = opened
    const problem = page.getByRole('region', { name: 'Problem of box' })
    await page.getByText('ok', { exact: true }).waitFor()
    await engine.stop()
    await page.getByRole('button', { name: 'Test now' }).click()
    await problem.getByText('The connection to the provider failed').waitFor()
    await problem.getByText('Check that the provider is running').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'provider-stopped')
    await page.setViewportSize({ width: 360, height: 800 })
    expect(await overflowingFacts(page)).toEqual([])
    await page.goto(`${paid.app.url}/#/overview`)
    await problem.waitFor()
    await page.goto(`${paid.app.url}/#/providers`)
    await page.getByRole('row', { name: /box/ }).getByText('failing').waitFor()
    await screenshots(page, 'providers-stopped')
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await widthOf(page)).toBeLessThanOrEqual(0)
    }
    engine = restartEngine(engine)
    now += 2000
    await problem.getByRole('button', { name: 'Test now' }).click()
    await page.getByRole('status').getByText('box responds.').waitFor()
    await page.getByRole('row', { name: /box/ }).getByText('ok', { exact: true }).waitFor()
    expect(await problem.count()).toBe(0)
  })

  test('of many organizations and keys loads one page of what is near its end, and says that there is more', async () => {
    await using paid = await startAdmin(jsonReply(), { balance: '5' })
    await addMany(paid.billing)
    await using opened = await openAdmin(await browser(), paid.app, '#/providers')
    const { page } = opened
    await page.getByRole('heading', { name: 'Providers', level: 1 }).waitFor()
    const paths: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname.startsWith('/v1/')) paths.push(pathname)
      else if (pathname.startsWith('/admin/') && pathname !== '/admin/providers')
        paths.push(pathname + search)
    })
    await page.goto(`${paid.app.url}/#/overview`)
    const ends = page.getByRole('region', { name: /^Near their end/ }).first()
    await ends.getByText('And more').waitFor()
    await page
      .getByRole('region', { name: /^Today/ })
      .getByText('no requests')
      .waitFor()
    expect(await ends.getByRole('row', { name: /many 7/ }).innerText()).toContain('The budget is exhausted')
    // The header, the organization and a page of keys.
    expect(await ends.getByRole('row').count()).toBe(102)
    const lists = ['organizations', 'projects', 'keys']
    const nearEndLists = lists.map((list) => `/admin/${list}?limit=100&order=desc&near_end=true`)
    const reports = ['/v1/organization/usage/completions', '/v1/organization/costs']
    expect(paths.toSorted()).toEqual([...nearEndLists, ...reports].toSorted())
  })
})

describe('what ends soon', () => {
  const organization = {
    name: 'mill',
    billing: 'prepaid' as const,
    reserved_usd: '1.00',
    budget: null,
  }

  test.each([
    ['2.01', []],
    ['2.00', ['$1.00 of the balance is left']],
    ['1.00', ['The balance is exhausted']],
  ])('with a balance of %s, is %j', (balance_usd, expected) => {
    const accounts = { organizations: [{ ...organization, balance_usd }], projects: [], keys: [] }
    expect(nearEnds(accounts, 0).map(({ what }) => what)).toEqual(expected)
  })

  test.each([
    ['7.99', '0.00', []],
    ['7.00', '1.00', ['80 % of the budget is used']],
    ['10.00', '0.00', ['The budget is exhausted']],
  ])('with %s spent and %s reserved of a budget of 10, is %j', (spent_usd, reserved_usd, expected) => {
    const budget = {
      limit_usd: '10.00',
      spent_usd,
      reserved_usd,
      held_usd: '0.00',
      allocated_usd: '0.00',
      left_usd: '0.00',
      resets_at: null,
    }
    const unmetered = { ...organization, billing: 'unmetered' as const, balance_usd: '0.00', budget }
    const accounts = { organizations: [unmetered], projects: [], keys: [] }
    expect(nearEnds(accounts, 0).map(({ what }) => what)).toEqual(expected)
  })
})

test.each([
  [null, []],
  ['1970-01-08T00:00:01Z', []],
  ['1970-01-08T00:00:00Z', ['It expires in 7 days']],
  ['1970-01-02T12:00:00Z', ['It expires in 1 day']],
  ['1970-01-01T01:00:00Z', ['It expires within 24 hours']],
  // By the clock of the browser, which is ahead of that of the server.
  ['1969-12-31T23:59:00Z', ['It expires within 24 hours']],
])('of a key that expires at %s, %j is near its end', (expires_at, expected) => {
  const key = { id: 'key_1', name: 'laptop', budget: null, expires_at } as ApiKey
  const accounts = { organizations: [], projects: [], keys: [key] }
  expect(nearEnds(accounts, 0).map(({ what }) => what)).toEqual(expected)
})

test.each([
  [{ requests: 0, clientErrors: 0, serverErrors: 0 }, 'neutral', 'no requests'],
  [{ requests: 100, clientErrors: 90, serverErrors: 0 }, 'good', 'normal'],
  [{ requests: 100, clientErrors: 0, serverErrors: 1 }, 'warning', 'raised'],
  [{ requests: 100, clientErrors: 0, serverErrors: 5 }, 'bad', 'high'],
])('the error rate of %j is %s and called %s: errors of clients do not count', (requests, tone, word) => {
  expect(errorRate(requests)).toMatchObject({ tone, word })
})
