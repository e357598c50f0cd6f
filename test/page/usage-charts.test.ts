import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { axisTicks, isolatedPoints } from '../../src/page/components/plot.ts'
import { type BillingScenario, startBillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { fillUsage } from '../support/usage-rows.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openView } from './support/open-view.ts'
import { drawnPlots } from './support/plots.ts'
import { screenshots } from './support/screenshot.ts'
import { idOf } from './support/usage.ts'

const browser = sharedTab()
const hour = 3_600_000

/** Seven requests of a day, three hours apart; the first one failed, and the last one was now. */
let few: BillingScenario
beforeAll(async () => {
  few = await startBillingScenario(jsonReply())
  const [now, organizations] = [Date.now(), [await idOf(few, 'default')]]
  await fillUsage(few.billing, { rows: 7, from: now - 18 * hour, to: now + 3 * hour, organizations })
})
afterAll(() => few[Symbol.asyncDispose]())

/** Opens a view, and waits until its charts are drawn: after the first frame with their text. */
async function openCharts(place: string) {
  const opened = await openView(await browser(), few.app, place)
  const { page } = opened
  await page.getByText('Show as table').first().waitFor()
  await page.waitForFunction(() =>
    [...document.querySelectorAll('figure.chart')].every((chart) => chart.querySelector('canvas') !== null),
  )
  await settled(page)
  return opened
}

/** The plot of a chart. */
async function plotOf(page: Page, title: string) {
  const plot = (await drawnPlots(page)).find((one) => one.title === title)
  if (plot === undefined) throw new Error(`There is no chart ${title}.`)
  return plot
}

test.each([
  [0, true, [0, 1, 2]],
  [1, true, [0, 1, 2]],
  [2, true, [0, 1, 2]],
  [7, true, [0, 2, 4, 6, 8]],
  [10, true, [0, 5, 10]],
  [1234, true, [0, 500, 1000, 1500]],
  [0, false, [0, 1, 2]],
  [0.000006, false, [0, 0.000002, 0.000004, 0.000006]],
  [0.45, false, [0, 0.2, 0.4, 0.6]],
])('an axis up to %p, of whole numbers: %p, has the ticks %p', (max, whole, ticks) => {
  expect(axisTicks(max, whole)).toEqual(ticks)
})

test('an axis has three to five ticks and reaches its highest value, whatever it is', () => {
  for (let max = 1e-9; max < 1e13; max *= 1.37)
    for (const whole of [true, false]) {
      const ticks = axisTicks(whole ? Math.ceil(max) : max, whole)
      expect([ticks.length >= 3, ticks.length <= 5, ticks.at(-1)! >= max * (1 - 1e-9)]).toEqual([
        true,
        true,
        true,
      ])
    }
})

test('only values without a neighbor are points of their own', () => {
  expect(isolatedPoints([1, null, 2, 3, null, 4])).toEqual([0, 5])
  expect(isolatedPoints([null, null, 0, null])).toEqual([2])
  expect(isolatedPoints([])).toEqual([])
})

describe.skipIf(!hasBrowser)(`charts of few requests${browserNeeded}`, () => {
  test('each time without a neighbor is drawn as a point', async () => {
    await using opened = await openCharts('#/usage?range=24h&by=none')
    const { series } = await plotOf(opened.page, 'Latency')
    // The median is in front of the 95th percentile of the same single request.
    expect(series[0]?.map(({ from, to }) => to - from > 1 && to - from < 9)).toEqual(Array(6).fill(true))
  })

  test('bars of several series are stacked, each as high as its value', async () => {
    await using opened = await openCharts('#/usage?range=24h&by=none')
    const [input = [], output = []] = (await plotOf(opened.page, 'Tokens')).series
    // The first request has no tokens.
    expect(input.length).toBe(6)
    expect(output.map(({ from, to }) => [from, to])).toEqual(input.map(({ from, to }) => [from, to]))
    for (const [index, { height }] of input.entries())
      expect(Math.abs(height - output[index]!.height)).toBeLessThanOrEqual(2)
    const one = input[0]!.height
    expect(Math.abs(input[5]!.height - 6 * one)).toBeLessThanOrEqual(9)
  })

  test('groups are bars, and every chart has at least three ticks on both axes', async () => {
    for (const place of [
      'range=24h&by=model',
      'range=24h&by=none',
      'range=1h&by=none',
      'range=30d&by=error',
    ]) {
      await using opened = await openCharts(`#/usage?${place}`)
      for (const width of [360, 1280, 1440]) {
        await opened.page.setViewportSize({ width, height: 800 })
        await settled(opened.page)
        for (const { title, valueTicks, timeTicks } of await drawnPlots(opened.page))
          expect([place, width, title, valueTicks >= 3, timeTicks >= 3]).toEqual([
            place,
            width,
            title,
            true,
            true,
          ])
      }
    }
    await using opened = await openCharts('#/usage?range=24h&by=model')
    const bars = (await plotOf(opened.page, 'Requests')).series.flat()
    expect(bars.length).toBe(7)
    for (const { height } of bars) expect(Math.abs(height - bars[0]!.height)).toBeLessThanOrEqual(2)
  })

  test('a chart stays in its card with its table open, at every width', async () => {
    await using opened = await openCharts('#/usage?range=24h&by=model')
    const { page } = opened
    const summaries = await page.getByText('Show as table').all()
    for (const summary of summaries) await summary.click()
    await page
      .locator('figure .table')
      .nth(summaries.length - 1)
      .waitFor()
    for (const width of [360, 768, 1280, 1440]) {
      await page.setViewportSize({ width, height: 800 })
      await settled(page)
      expect([width, await page.evaluate(findOverflow)]).toEqual([width, []])
    }
    await screenshots(page, 'usage-tables')
    expect(await accessibilityProblems(page)).toEqual([])
  })
})

/** Observers of sizes are notified before the second frame. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
}

/** Runs in the page: what is outside of the page or of its card, and the cards that overlap. */
function findOverflow(): string[] {
  const problems: string[] = []
  const { clientWidth, scrollWidth } = document.documentElement
  if (scrollWidth > clientWidth) problems.push(`The page is ${scrollWidth - clientWidth} px too wide.`)
  const cards = [...document.querySelectorAll('figure.chart')].map((card) => ({
    card,
    box: card.getBoundingClientRect(),
  }))
  for (const { card, box } of cards) {
    for (const part of card.querySelectorAll('.table, .legend li, canvas, figcaption')) {
      const { left, right, bottom } = part.getBoundingClientRect()
      if (left < box.left || right > box.right || bottom > box.bottom)
        problems.push(`${part.className || part.localName} is outside of its card.`)
    }
    for (const other of cards) {
      const [one, two] = [box, other.box]
      if (other.card === card || one.right <= two.left || two.right <= one.left) continue
      if (one.bottom > two.top && two.bottom > one.top) problems.push('Two cards overlap.')
    }
  }
  return problems
}
