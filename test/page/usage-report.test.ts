import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { csvLine } from '../../src/lib/csv.ts'
import { formatUsd } from '../../src/lib/usd.ts'
import { waitUntil } from '../support/billing-database.ts'
import type { BillingScenario } from '../support/billing-scenario.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openView } from './support/open-view.ts'
import { screenshots } from './support/screenshot.ts'
import { idOf, startUsage } from './support/usage.ts'

const browser = sharedTab()
const day = 86_400_000

/** The days of UTC that the tests choose: whole ones, which the rows of 30 days cover. */
const [yesterday, first, last] = [1, 20, 11].map((ago) =>
  new Date(Date.now() - ago * day).toISOString().slice(0, 10),
) as [string, string, string]

/** A hostile name, which a spreadsheet would calculate. */
const formula = '=HYPERLINK("http://x","y")'

/**
 * A gateway with 3,000 requests for all tests: one of eight is to a model with a hostile name. Only reports by error show it
 * for certain: these read the requests, others the totals, which may be of before.
 */
let paid: BillingScenario
beforeAll(async () => {
  paid = await startUsage(3000)
  await paid.billing.values('UPDATE usage SET model = ? WHERE model = ?', formula, 'acme/m3')
})
afterAll(() => paid[Symbol.asyncDispose]())

type Sums = { readonly requests: number; readonly failed: number; readonly cost: number | null }

/** What the database has of the chosen days, by columns of the usage table. */
async function sumsBy(columns: readonly string[]) {
  const names = columns.map((column) => `${column}, `).join('')
  const grouped = columns.length > 0 ? `GROUP BY ${columns.join()}` : ''
  return await paid.billing.rows<Sums & Record<string, string | null>>(
    `SELECT ${names} count(*) requests, sum(error IS NOT NULL) failed, sum(cost) cost FROM usage
      WHERE organization_id = ? AND created_at >= ? AND created_at < ? ${grouped}`,
    await idOf(paid, 'default'),
    Date.parse(first),
    Date.parse(last) + day,
  )
}

async function figureOf(page: Page, label: string): Promise<string> {
  return await page.locator('.figures > div', { hasText: label }).locator('dd').innerText()
}

/** The cells of the table of the groups, by row. */
async function groupRows(page: Page): Promise<string[][]> {
  const rows = await page
    .getByRole('region', { name: /^Usage by/ })
    .locator('tbody tr')
    .all()
  return await Promise.all(rows.map((row) => row.locator('td, th').allInnerTexts()))
}

describe.skipIf(!hasBrowser)(`a report of usage${browserNeeded}`, () => {
  test('any range of days has the exact sums of the database, and is kept in the address', async () => {
    await using opened = await openView(await browser(), paid.app, '#/usage?range=24h&by=model')
    const { page } = opened
    await page.getByLabel('First day').fill(first)
    await page.getByLabel('Last day').fill(last)
    await page.getByText(/^All requests from .* UTC\.$/).waitFor()
    expect(page.url()).toContain(`#/usage?from=${first}&to=${last}&by=model`)
    const [sums] = await sumsBy([])
    const requests = sums!.requests.toLocaleString('en-US')
    // Until then, the page shows the report of the first day alone.
    await waitUntil(
      async () => (await figureOf(page, 'Requests')) === requests,
      `${requests} requests are shown`,
    )
    const exact = `$${formatUsd(sums!.cost ?? 0)}`
    expect(await page.locator('.figures [title^="$"]').getAttribute('title')).toBe(exact)
    for (const button of await page.getByRole('group', { name: 'Range' }).getByRole('button').all())
      expect(await button.getAttribute('aria-pressed')).toBe('false')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.reload()
    await page.getByText(/^All requests from/).waitFor()
    expect(await page.getByLabel('First day').inputValue()).toBe(first)
    await page.getByRole('button', { name: '24 hours' }).click()
    await page.getByText(/^All requests since/).waitFor()
    expect(page.url()).toContain('range=24h')
    expect((await page.getByLabel('Last day').inputValue()) >= yesterday).toBe(true)
  })

  test('days in the wrong order change nothing and are explained', async () => {
    const place = `#/usage?from=${first}&to=${last}&by=none`
    await using opened = await openView(await browser(), paid.app, place)
    const { page } = opened
    await page.getByText(/^All requests from/).waitFor()
    await page.getByLabel('First day').fill(yesterday)
    await page.getByText('Before the first day').waitFor()
    expect(page.url()).toContain(place)
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByLabel('Last day').fill(yesterday)
    await page.getByText(/^All requests on/).waitFor()
    expect(page.url()).toContain(`from=${yesterday}&to=${yesterday}`)
  })

  test('up to three groupings, one of them by error, make the groups of the database', async () => {
    await using opened = await openView(await browser(), paid.app, `#/usage?from=${first}&to=${last}&by=none`)
    const { page, watch } = opened
    await page.getByLabel('Group by').selectOption('model')
    await page.getByLabel('Then by').selectOption('api')
    await page.getByLabel('And by').selectOption('error')
    await page.getByRole('heading', { name: 'By model, API, and error' }).waitFor()
    expect(page.url()).toContain('by=model%2Capi%2Cerror')
    expect(watch.requests.some((url) => /(group_by\S+){3}/.test(url))).toBe(true)
    const offered = await page.getByLabel('Group by').locator('option').allInnerTexts()
    expect(offered).toEqual(['Nothing', 'Model', 'Project', 'API key', 'User', 'Session', 'Tag', 'Provider'])
    const expected = (await sumsBy(['model', 'api', 'error'])).map(
      ({ model, api, error, requests, failed }) =>
        [model ?? '(none)', api, error ?? '(no error)', requests, failed].join('|'),
    )
    const rows = (await groupRows(page)).map(([model, api, error, _cost, requests, failed]) =>
      [model, api, error, requests, failed].join('|'),
    )
    expect(rows.toSorted()).toEqual(expected.toSorted())
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'usage-groupings')
    await page.getByLabel('Then by').selectOption('none')
    await page.getByRole('heading', { name: 'By model and error' }).waitFor()
  })

  test('by error, the codes with most failures are the first rows, and bars of their own', async () => {
    await using opened = await openView(
      await browser(),
      paid.app,
      `#/usage?from=${first}&to=${last}&by=error`,
    )
    const { page } = opened
    await page.getByRole('heading', { name: 'By error' }).waitFor()
    const [sums] = await sumsBy([])
    expect((await groupRows(page)).map(([error, _cost, , failed]) => [error, failed])).toEqual([
      ['upstream_timeout', String(sums!.failed)],
      ['(no error)', '0'],
    ])
    const legend = page.getByRole('figure').filter({ hasText: 'Errors' }).locator('.legend bdi')
    expect(await legend.allInnerTexts()).toEqual(['(no error)', 'upstream_timeout'])
  })

  test('the cost and the requests are the first figures and charts, and larger than the rest', async () => {
    await using opened = await openView(await browser(), paid.app, '#/usage?range=30d&by=model')
    const { page } = opened
    await page.getByText('Show as table').first().waitFor()
    for (const width of [360, 1280, 1440]) {
      await page.setViewportSize({ width, height: 800 })
      const sizes = await page.evaluate(() => ({
        figures: [...document.querySelectorAll('.figures dd')].map((one) =>
          parseFloat(getComputedStyle(one).fontSize),
        ),
        charts: [...document.querySelectorAll('.chart-canvas')].map((one) => one.clientHeight),
      }))
      for (const [main, ...rest] of [sizes.figures.slice(1), sizes.charts.slice(1)])
        for (const size of rest) expect(size).toBeLessThan(main ?? 0)
    }
    expect((await page.locator('.figures dt').allInnerTexts()).slice(0, 2)).toEqual(['Cost', 'Requests'])
    const titles = await page.locator('figcaption strong').allInnerTexts()
    expect(titles.slice(0, 2)).toEqual(['Cost', 'Requests'])
  })

  test('the CSV file has the exact figures of each group in each bucket', async () => {
    const place = `#/usage?from=${first}&to=${last}&by=model,error`
    await using opened = await openView(await browser(), paid.app, place)
    const { page } = opened
    await page.getByRole('heading', { name: 'By model and error' }).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`weir-usage-${first}-to-${last}.csv`)
    const [header = '', ...lines] = (await Bun.file(await download.path()).text()).trimEnd().split('\r\n')
    expect(header).toStartWith('start_time,end_time,model,error,num_model_requests,cost_usd,')
    const cells = lines.map((line) => line.replace(csvLine([formula]), 'formula').split(','))
    expect(cells.every((row) => row.length === header.split(',').length)).toBe(true)
    expect(cells[0]?.slice(0, 2)).toEqual([`${first}T00:00:00Z`, `${dayAfter(first)}T00:00:00Z`])
    expect(cells.at(-1)?.[0]).toBe(`${last}T00:00:00Z`)

    const sums = new Map<string, { requests: number; failed: number; nanos: bigint }>()
    for (const [, , model, error, requests, cost = '', , failed] of cells) {
      const sum = sums.get(`${model}|${error}`) ?? { requests: 0, failed: 0, nanos: 0n }
      sums.set(`${model}|${error}`, {
        requests: sum.requests + Number(requests),
        failed: sum.failed + Number(failed),
        nanos: sum.nanos + nanosOf(cost),
      })
    }
    const expected = (await sumsBy(['model', 'error'])).map(
      ({ model, error, requests, failed, cost }) =>
        [
          `${model === formula ? 'formula' : (model ?? '')}|${error ?? ''}`,
          { requests, failed, nanos: BigInt(cost ?? 0) },
        ] as const,
    )
    expect(expected.some(([name]) => name.startsWith('formula'))).toBe(true)
    expect(sums).toEqual(new Map(expected))
  })

  test('without requests, there is no file to download', async () => {
    await using opened = await openView(await browser(), paid.app, '#/usage?from=2020-01-01&to=2020-01-31')
    const { page } = opened
    await page.getByRole('heading', { name: 'No requests from Jan 1, 2020 to Jan 31, 2020' }).waitFor()
    expect(await page.getByRole('button', { name: 'Download CSV' }).isDisabled()).toBe(true)
  })
})

function dayAfter(text: string): string {
  return new Date(Date.parse(text) + day).toISOString().slice(0, 10)
}

/** Billionths of a dollar. */
function nanosOf(usd: string): bigint {
  const [whole = '', fraction = ''] = usd.split('.')
  return BigInt(`${whole}${fraction.padEnd(9, '0')}`)
}
