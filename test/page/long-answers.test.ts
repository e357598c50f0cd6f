import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { waitUntil } from '../support/billing-database.ts'
import { chunks, delta, doneFrame } from '../support/chat-fixtures.ts'
import { startScenario } from '../support/scenario.ts'
import { browserNeeded, hasBrowser, ownBrowser } from './support/browser.ts'
import { openPage } from './support/open-page.ts'

const browser = ownBrowser()

const section = (index: number) =>
  `## Section ${index}\n\nThe *river* at weir ${index} is **high**: see [the table](https://example.com/${index}).\n\n` +
  `- level ${index}\n- flow ${index * 7}\n\n\`\`\`ts\nconst level${index} = ${index}\n\`\`\`\n\n`
const longCode = `\`\`\`\n${Array.from({ length: 1500 }, (_, line) => `line ${line} of the log\n`).join('')}\`\`\`\n`
const text = `${Array.from({ length: 500 }, (_, index) => section(index)).join('')}${longCode}The end.`

describe.skipIf(!hasBrowser)(`an answer of more than 100 kB${browserNeeded}`, () => {
  test('is rendered where it grows: complete blocks are not touched again, and its end stays in sight', async () => {
    expect(text.length).toBeGreaterThan(100_000)
    const parts = (text.match(/[^]{1,4500}/g) ?? []).map((content) => ({
      content,
      gate: Promise.withResolvers<void>(),
    }))
    const pieces = parts.flatMap(({ content, gate }) => [gate.promise, delta({ content })])
    const script = chunks([...pieces, delta({}, 'stop'), doneFrame])
    await using scenario = await startScenario(script)
    await using opened = await openPage(await browser(), scenario.app)
    const { page } = opened
    await page.goto(`${scenario.app.url}/#/playground?model=acme/river`)
    await watchMutations(page)
    await page.getByLabel('Message').fill('Everything, please.')
    await page.keyboard.press('Enter')
    let rendered = 0
    for (const { gate } of parts) {
      gate.resolve()
      // A browser renders several pieces in one frame if they come at once.
      rendered = await renderedBeyond(page, rendered)
    }
    await page.getByText('The end.').waitFor()
    const { frames, blocks, early, largest } = await readMutations(page)
    expect(blocks).toBeGreaterThan(1600)
    // The first piece is inserted as a whole.
    expect(frames).toBeGreaterThanOrEqual(parts.length - 1)
    expect(early).toEqual([])
    expect(largest).toBeLessThan(blocks / 2)
    const markdown = page.getByRole('article').locator('.markdown')
    const shown = (await markdown.textContent()) ?? ''
    expect(shown.match(/line \d+ of the log/g)).toHaveLength(1500)
    expect(shown.match(/Section \d+/g)).toHaveLength(500)
    // The page scrolls after it has rendered.
    await waitUntil(async () => (await distanceFromEnd(page)) < 4, 'the end of the answer in sight')
  })
})

type Mutations = { frames: number; blocks: number; early: string[]; largest: number }

/** The last block may consist of a few elements before its end is known. */
const lastElements = 5

/** Counts what each frame changes, and records changes of elements that were complete in the frame before. */
async function watchMutations(page: Page): Promise<void> {
  await page.evaluate((allowed) => {
    const found: Mutations = { frames: 0, blocks: 0, early: [], largest: 0 }
    Object.assign(globalThis, { found })
    new MutationObserver((records) => {
      const root = document.querySelector('.markdown')
      if (root === null) return
      const inside = records.filter(({ target }) => root.contains(target))
      if (inside.length === 0) return
      const children = [...root.children]
      for (const { target } of inside) {
        const index = children.findIndex((child) => child.contains(target))
        if (index >= 0 && index < found.blocks - allowed) found.early.push(children[index]?.textContent ?? '')
      }
      found.frames += 1
      found.blocks = children.length
      found.largest = Math.max(found.largest, inside.length)
    }).observe(document.body, { childList: true, characterData: true, attributes: true, subtree: true })
  }, lastElements)
}

function readMutations(page: Page): Promise<Mutations> {
  return page.evaluate(() => (globalThis as unknown as { found: Mutations }).found)
}

/** Resolves with the length of the text of the answer that is rendered, once it exceeds this length. */
function renderedBeyond(page: Page, length: number): Promise<number> {
  return page.evaluate(async (length) => {
    const rendered = () => document.querySelector('.markdown')?.textContent.length ?? 0
    while (rendered() <= length) await new Promise(requestAnimationFrame)
    return rendered()
  }, length)
}

function distanceFromEnd(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollHeight - innerHeight - Math.ceil(scrollY))
}
