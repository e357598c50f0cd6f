import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ModelDetails } from '../../src/config/model-details.ts'
import { waitUntil } from '../support/billing-database.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openView, phoneInTheDark } from './support/open-view.ts'
import { screenshot } from './support/screenshot.ts'
import { scrollToEnd } from './support/scroll.ts'

const browser = sharedTab()

/** Models of every kind, the one with a hostile name among them. */
const hostileName = '<img src=x onerror=alert(1)>\u202Etxt'
const models: readonly ModelDetails[] = [
  ...Array.from({ length: 2000 }, (_, index) => ({
    slug: `mill/model-${index}`,
    routes: [{ provider: index % 2 ? 'acme' : 'other', model: `m-${index}` }],
    pricing: { input: (index % 40) / 16, output: index % 30, cache_read: 0.000_000_1 * index },
    context_window: 1000 * (index + 1),
  })),
  {
    slug: 'delta/oracle',
    display_name: hostileName,
    routes: [{ provider: 'acme', model: 'oracle' }],
    pricing: { input: 1.25, output: 10, cache_read: 0.125, request: 0.000_000_001 },
    released: '2025-11-30',
    shutdown_date: '2027-04-01',
    context_window: 400_000,
    max_output_tokens: 128_000,
    input_modalities: ['text', 'image'],
    reasoning: { supported_efforts: ['low', 'high'], default_effort: 'high' },
  },
  {
    slug: 'delta/vectors',
    routes: [{ provider: 'acme', model: 'vectors' }],
    supported_apis: ['embeddings'],
  },
  { slug: 'delta/closed', routes: [{ provider: 'keyless', model: 'closed' }] },
]

/** One gateway for all tests, because none of them changes it. */
let scenario: Scenario
beforeAll(async () => {
  const settings = { providers: { keyless: { kind: 'openai' as const } } }
  scenario = await startScenario(jsonReply(), { models, settings })
})
afterAll(() => scenario[Symbol.asyncDispose]())

describe.skipIf(!hasBrowser)(`the models view${browserNeeded}`, () => {
  test('2,000 models are searched and filtered by the address, of which only those in sight are rendered', async () => {
    await using opened = await openView(await browser(), scenario.app, '#/models')
    const { page } = opened
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
    await page.getByText(/2,00\d enabled models/).waitFor()
    expect(await page.locator('tbody tr').count()).toBeLessThan(120)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'models-light')
    await page.keyboard.press('/')
    await page.keyboard.type('oracle delta')
    await page.getByText(/1 of 2,00\d enabled models/).waitFor()
    expect(page.url()).toContain('q=oracle+delta')
    const row = page.getByRole('row').nth(1)
    expect(await row.innerText()).toMatch(/delta\/oracle\s+acme\s+400K\s+\$1\.25\s+\$0\.125\s+\$10\.00/)
    await page.goto(`${scenario.app.url}/#/models?can=reasoning&provider=acme`)
    // Until then, the page shows the search before, which found one model, too.
    await waitUntil(
      async () => (await page.getByLabel('Capability').inputValue()) === 'reasoning',
      'the filter of the address',
    )
    await page.getByText(/1 of 2,00\d enabled models/).waitFor()
  })

  test('the last of 2,000 models is reached by scrolling with the keyboard, and sorted by price', async () => {
    await using opened = await openView(await browser(), scenario.app, '#/models')
    const { page } = opened
    await scrollToEnd(page.getByRole('region', { name: 'Models' }))
    await page.getByRole('link', { name: 'mill/model-1999' }).waitFor()
    await page.getByRole('button', { name: 'Output' }).click()
    await page.getByRole('region', { name: 'Models' }).focus()
    await page.keyboard.press('Home')
    await page.waitForFunction(
      () => document.querySelector('tbody tr td:nth-child(6)')?.textContent === '$29.00',
    )
  })

  test('a model has its facts and exact prices, its name is text, and it leads to the playground', async () => {
    await using opened = await openView(await browser(), scenario.app, '#/models/delta/oracle')
    const { page } = opened
    await page.getByRole('heading', { name: hostileName.replace('\u202E', '[U+202E]'), level: 1 }).waitFor()
    await page.getByText('No requests to this model.').waitFor()
    const facts = await page.locator('main').innerText()
    for (const fact of [
      '400,000 tokens',
      '128,000 tokens',
      '$0.000000001',
      '$0.125',
      'high (default)',
      'Nov 30, 2025',
      'Apr 1, 2027',
    ])
      expect(facts).toContain(fact)
    expect(await page.locator('main img').count()).toBe(0)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'model-light')
    expect(await page.getByRole('link', { name: 'Try it' }).getAttribute('href')).toBe(
      '#/playground?model=delta%2Foracle',
    )
  })

  test('a model without a known release date has none, and one for embeddings has the code of them', async () => {
    await using opened = await openView(await browser(), scenario.app, '#/models/delta/vectors')
    const { page } = opened
    const code = page.getByRole('region', { name: 'Code' })
    expect(await code.getByRole('region', { name: 'curl' }).textContent()).toContain(
      `${scenario.app.url}/v1/embeddings`,
    )
    expect(await code.getByRole('tab').allTextContents()).toEqual(['curl', 'Python', 'TypeScript'])
    const facts = await page.locator('main').innerText()
    expect(facts).toContain('Context window')
    expect(facts).not.toContain('Released')
    expect(facts).not.toContain(String(new Date().getFullYear()))
    expect(await page.getByRole('link', { name: 'Try it' }).count()).toBe(0)
  })

  test('the page of a disabled model says why, also after a search that finds nothing', async () => {
    await using opened = await openView(await browser(), scenario.app, '#/models?q=delta/closed', {
      expected: /status of 404/,
    })
    const { page } = opened
    await page.getByRole('link', { name: /Find out why/ }).click()
    await page.getByText('The model delta/closed is disabled.').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'model-disabled')
  })

  test('on a narrow and dark screen everything fits, without a horizontal scroll of the page', async () => {
    await using opened = await openView(await browser(), scenario.app, '#/models', {
      context: phoneInTheDark,
    })
    const { page } = opened
    for (const [hash, part, name] of [
      ['#/models', 'main table', 'models-360-dark'],
      ['#/models/delta/oracle', 'main .facts', 'model-360-dark'],
    ] as const) {
      await page.goto(`${scenario.app.url}/${hash}`)
      await page.locator(part).first().waitFor()
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
      expect(await accessibilityProblems(page)).toEqual([])
      await screenshot(page, name)
    }
  })

  test('a failure says what the gateway said, and is tried again', async () => {
    await using opened = await openView(await browser(), scenario.app, '#/', { expected: /status of 503/ })
    const { page } = opened
    await page.route('**/v1/models', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'The database is locked.', code: 'locked' } } }),
    )
    await page.goto(`${scenario.app.url}/#/models`)
    await page.getByText('The database is locked.').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'models-failure')
    await page.unroute('**/v1/models')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(/2,00\d enabled models/).waitFor()
  })
})
