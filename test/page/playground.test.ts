import { describe, expect, test } from 'bun:test'
import { chatOutput, chunks, delta, streamReply } from '../support/chat-fixtures.ts'
import { startApp } from '../support/app.ts'
import { startScenario } from '../support/scenario.ts'
import { hang, json } from '../support/script.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openPage } from './support/open-page.ts'
import { screenshot } from './support/screenshot.ts'

const browser = sharedTab()
const pricing = { input: 0.3, output: 2.5 }

describe.skipIf(!hasBrowser)(`the playground${browserNeeded}`, () => {
  test('a link with a key leads to a streamed answer, by keyboard alone', async () => {
    await using app = await startApp()
    await using opened = await openPage(await browser(), app)
    const { page } = opened
    await page.getByLabel('Message').waitFor()
    await page.keyboard.press('i')
    await page.keyboard.type('Hello, **river**')
    await page.keyboard.press('Enter')
    const answer = page.getByRole('article', { name: 'Answer of weir/echo' })
    await answer.locator('strong', { hasText: 'river' }).waitFor()
    await answer.getByText('Cost').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.keyboard.type('And again')
    await page.keyboard.press('Enter')
    await page.getByText('And again').nth(1).waitFor()
    await page.getByRole('button', { name: 'New' }).click()
    await page.getByRole('article').first().waitFor({ state: 'detached' })
    expect(await page.getByRole('article').count()).toBe(0)
  })

  test('shows reasoning, tool calls, tokens, and the exact cost at the listed prices', async () => {
    const output = chatOutput({
      reasoning: ['The river ', 'is high.'],
      text: ['It is ', '`four` metres.'],
      calls: [{ id: 'call_1', name: 'level', arguments: ['{"at":', '"weir"}'] }],
      finish: 'tool_calls',
    })
    await using scenario = await startScenario(streamReply(output), { model: { pricing } })
    await using opened = await openPage(await browser(), scenario.app, { hash: `#key=${scenario.app.key}` })
    const { page } = opened
    await page.goto(`${scenario.app.url}/#/playground?model=acme/river`)
    await page.getByLabel('Message').fill('How high is it?')
    await page.keyboard.press('Enter')
    const answer = page.getByRole('article', { name: 'Answer of acme/river' })
    await answer.getByText('12 tokens', { exact: true }).waitFor()
    await answer.getByText('5 tokens', { exact: true }).waitFor()
    await answer.getByText('level', { exact: true }).waitFor()
    expect(await answer.getByRole('region', { name: 'arguments' }).textContent()).toBe('{\n  "at": "weir"\n}')
    expect(await answer.getByTitle('$0.0000161').textContent()).toBe('$0.000016')
    await answer.getByText('Reasoning', { exact: true }).click()
    await answer.getByText('The river is high.').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'playground')
    const { body } = await scenario.acme.request(0)
    expect(body.messages).toEqual([{ role: 'user', content: 'How high is it?' }])
  })

  test('Enter sends what was written just before it', async () => {
    await using scenario = await startScenario(streamReply())
    await using opened = await openPage(await browser(), scenario.app)
    const { page } = opened
    await page.goto(`${scenario.app.url}/#/playground?model=acme/river`)
    // In one turn, so that the page cannot render in between.
    await page.getByLabel('Message').evaluate((field) => {
      ;(field as HTMLTextAreaElement).value = 'How high is it?'
      field.dispatchEvent(new Event('input', { bubbles: true }))
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
    })
    await page.getByText('It is four metres.').waitFor()
    const { body } = await scenario.acme.request(0)
    expect(body.messages).toEqual([{ role: 'user', content: 'How high is it?' }])
    expect(await page.getByLabel('Message').inputValue()).toBe('')
  })

  test('the conversation, the draft, the model and the parameters stay while another view is open', async () => {
    await using scenario = await startScenario([streamReply(), streamReply()])
    await using opened = await openPage(await browser(), scenario.app)
    const { page } = opened
    await page.goto(`${scenario.app.url}/#/playground?model=acme/river`)
    await page.getByLabel('System prompt').fill('Be brief.')
    await page.getByLabel('Message').fill('How high is it?')
    await page.keyboard.press('Enter')
    await page.getByText('5 tokens', { exact: true }).waitFor()
    await page.getByLabel('Message').fill('And now?')
    const navigation = page.getByRole('navigation')
    await navigation.getByRole('link', { name: 'Usage' }).click()
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    await navigation.getByRole('link', { name: 'Playground' }).click()
    await page.getByText('It is four metres.').waitFor()
    expect(await page.getByLabel('Message').inputValue()).toBe('And now?')
    await page.getByLabel('Message').press('Enter')
    await page.getByText('It is four metres.').nth(1).waitFor()
    const { body } = await scenario.acme.request(1)
    expect(body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'How high is it?' },
      { role: 'assistant', content: 'It is four metres.' },
      { role: 'user', content: 'And now?' },
    ])
    await page.getByRole('button', { name: 'Keys', exact: true }).click()
    await page.getByRole('button', { name: 'Forget the keys' }).click()
    await page.getByLabel('API key or admin key').fill(scenario.app.key)
    await page.keyboard.press('Enter')
    await page.getByLabel('Message').waitFor()
    expect(await page.getByText('It is four metres.').count()).toBe(0)
    expect(await page.getByLabel('Message').inputValue()).toBe('')
  })

  test('a running answer can be stopped, and a failed one shows the reason and can be sent again', async () => {
    const first = chunks([delta({ content: 'It is' })], hang)
    const failure = json({ error: { message: 'The dam is closed.' } }, { status: 400 })
    await using scenario = await startScenario([first, failure, streamReply()])
    await using opened = await openPage(await browser(), scenario.app, { expected: /status of 400/ })
    const { page } = opened
    await page.goto(`${scenario.app.url}/#/playground?model=acme/river`)
    await page.getByLabel('Message').fill('How high is it?')
    await page.keyboard.press('Enter')
    await page.getByText('It is', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('stopped', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('alert').getByText('The dam is closed.').waitFor()
    await screenshot(page, 'playground-failure')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('It is four metres.').waitFor()
    expect(await page.getByRole('article').count()).toBe(1)
  })

  test('two models answer the same message side by side', async () => {
    const settings = { providers: { echo: {} } }
    await using scenario = await startScenario(streamReply(), { model: { pricing }, settings })
    await using opened = await openPage(await browser(), scenario.app)
    const { page } = opened
    await page.goto(`${scenario.app.url}/#/playground?model=acme/river`)
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('combobox', { name: 'Second model' }).click()
    await page.keyboard.type('echo')
    await page.keyboard.press('Enter')
    await page.getByLabel('Message').fill('How high is it?')
    await page.keyboard.press('Enter')
    await page
      .getByRole('article', { name: 'Answer of acme/river' })
      .getByText('It is four metres.')
      .waitFor()
    await page.getByRole('article', { name: 'Answer of weir/echo' }).getByText('How high is it?').waitFor()
    expect(page.url()).toEndWith('#/playground?model=acme%2Friver&compare=weir%2Fecho')
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'playground-compare')
  })

  test('the Responses API answers as well, and stores the answer if asked to', async () => {
    await using app = await startApp()
    await using opened = await openPage(await browser(), app)
    const { page } = opened
    await page.getByLabel('API', { exact: true }).selectOption('responses')
    await page.getByLabel('Store the answer').check()
    await page.getByLabel('Message').fill('Hello, river')
    await page.keyboard.press('Enter')
    await page.getByRole('article').getByText('Hello, river').waitFor()
    await page.getByRole('article').getByText('Output').waitFor()
    const { data } = (await (await app.request('/v1/responses')).json()) as { data: unknown[] }
    expect(data).toHaveLength(1)
  })

  test.each([
    ['a phone, light', 'phone-light', { viewport: { width: 360, height: 740 }, colorScheme: 'light' }],
    ['a phone, dark', 'phone-dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }],
    ['a wide screen, dark', 'wide-dark', { viewport: { width: 1400, height: 900 }, colorScheme: 'dark' }],
  ] as const)('is usable on %s', async (_, name, context) => {
    const text = [
      '## Levels\n\n| weir | m |\n|---|---|\n| upper | 4 |\n\n',
      '- one\n- two\n\n```ts\nconst a = 1\n```\n',
    ]
    await using scenario = await startScenario(streamReply(chatOutput({ text })), { model: { pricing } })
    await using opened = await openPage(await browser(), scenario.app, { context })
    const { page } = opened
    await page.goto(`${scenario.app.url}/#/playground?model=acme/river`)
    await page.getByLabel('Message').fill('How high is it?')
    await page.keyboard.press('Enter')
    await page.getByText('const a = 1').waitFor()
    await page.getByText('Output').waitFor()
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(overflow).toBeLessThanOrEqual(0)
    const topOf = async (text: string) =>
      (await page.getByText(text, { exact: true }).boundingBox())?.y ?? Number.NaN
    const headingTop = (await page.getByRole('heading', { level: 1 }).boundingBox())?.y ?? Number.NaN
    if (context.viewport.width < 500) expect(await topOf('Parameters')).toBeGreaterThan(headingTop)
    expect(await topOf('const a = 1')).toBeGreaterThan(headingTop)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, `playground-${name}`)
  })
})
