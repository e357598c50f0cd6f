import { describe, expect, test } from 'bun:test'
import { modelSnippets } from '../../src/page/views/playground/snippets.ts'
import { adminKey, startAdmin } from '../api/support/admin.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest } from '../support/scenario.ts'
import { json } from '../support/script.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openView } from './support/open-view.ts'
import { canRun, runSnippet } from './support/run-snippet.ts'
import { screenshots } from './support/screenshot.ts'

const browser = sharedTab()
const failure = json({ error: { message: 'swordfish' } }, { status: 500 })

/** A gateway whose model has two routes, of which the first has failed once and the second has answered. */
async function startUsed() {
  const paid = await startAdmin([failure], {
    model: {
      pricing: { input: 1, output: 2 },
      routes: [
        { provider: 'acme', model: 'river-1', weight: 1 },
        { provider: 'other', model: 'secret-river', weight: 0 },
      ],
    },
    other: [jsonReply()],
  })
  await (await paid.app.chat(chatRequest)).text()
  return paid
}

describe.skipIf(!hasBrowser)(`the view of a model that is used${browserNeeded}`, () => {
  test('has its usage, its routes and code, and for the operator the health of the routes', async () => {
    await using paid = await startUsed()
    await using opened = await openView(await browser(), paid.app, '#/models/acme/river', {
      // The page tries the admin key as an API key first.
      expected: /status of 401/,
    })
    const { page } = opened
    const usage = page.getByRole('region', { name: /^Usage/ })
    await usage.getByText('0 failed').waitFor()
    expect(await usage.innerText()).toMatch(/Cost\s+<?\$0\.0+\d*\s+Requests\s+1\s/)
    expect(await usage.getByTitle('12', { exact: true }).innerText()).toBe('12')
    const routes = page.getByRole('region', { name: 'Routes of the model' })
    expect(await routes.getByRole('row').allInnerTexts()).toEqual([
      expect.stringMatching(/^Provider\D*Order\s+Weight$/),
      expect.stringMatching(/^acme\s+1\s+1$/),
      expect.stringMatching(/^other\s+2\s+0$/),
    ])
    await page.getByText('The first route of a request is drawn by weight.').waitFor()
    expect(await page.content()).not.toContain('secret-river')
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'model')
    await page.goto(`${paid.app.url}/#key=${adminKey}`)
    await page.getByRole('list', { name: 'Operator' }).waitFor()
    await page.goto(`${paid.app.url}/#/models/acme/river`)
    await routes.getByRole('row', { name: /secret-river/ }).waitFor()
    expect(await routes.getByRole('row', { name: /acme/ }).innerText()).toMatch(/closed\s+1\s+1\s+502/)
    expect(await page.content()).not.toContain('swordfish')
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'model-operator')
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
      ).toBeLessThanOrEqual(0)
    }
    await usage.getByRole('link', { name: /over time/ }).click()
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    await page.getByText('Model: acme/river').waitFor()
  })
})

describe('the code of a model', () => {
  const origin = 'http://127.0.0.1:9347'
  const runOf = (id: string, supported_apis: readonly string[]) => {
    const code = modelSnippets({ slug: 'acme/river', supported_apis }, origin).find(
      (one) => one.id === id,
    )?.code
    return runSnippet(id, code ?? '', origin)
  }
  const content = 'Hello from Weir'

  for (const id of ['curl', 'python', 'typescript'])
    test.skipIf(!canRun(id)).each([
      [[], 'chat/completions', { messages: [{ role: 'user', content }] }],
      [['responses'], 'responses', { input: [{ role: 'user', content }] }],
      [['embeddings'], 'embeddings', { input: content }],
      [['completions'], 'completions', { prompt: content }],
    ])(`uses an API that it serves: ${id}, %j`, async (apis, path, body) => {
      const sent = await runOf(id, apis)
      expect(sent.path).toBe(`/v1/${path}`)
      expect(sent.body).toMatchObject({ model: 'acme/river', ...body })
    })

  test('is none where the model serves another API only', () => {
    expect(modelSnippets({ slug: 'acme/river', supported_apis: ['messages'] }, origin)).toEqual([])
  })
})
