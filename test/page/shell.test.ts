import { describe, expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { startScenario } from '../support/scenario.ts'
import { streamReply } from '../support/chat-fixtures.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openPage } from './support/open-page.ts'
import { screenshot } from './support/screenshot.ts'

const browser = sharedTab()
/** One transparent pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe.skipIf(!hasBrowser)(`the frame of the page${browserNeeded}`, () => {
  test('is used by keyboard: skip link, shortcuts, theme', async () => {
    await using app = await startApp()
    await using opened = await openPage(await browser(), app, { context: { colorScheme: 'light' } })
    const { page } = opened
    await page.getByLabel('Message').waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await dialog.getByText('Go to Playground').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'shortcuts')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    expect(await background()).toBe('rgb(255, 255, 255)')
    await page.getByRole('button', { name: 'Theme: auto' }).press('Enter')
    expect(await background()).toBe('rgb(16, 20, 19)')
    await page.reload()
    await page.getByLabel('Message').waitFor()
    expect(await background()).toBe('rgb(16, 20, 19)')
  })

  test('has a place for an address without a view, and one for a view without its key', async () => {
    await using app = await startApp({ environment: { WEIR_ADMIN_KEY: 'admin-secret-0123456789' } })
    const hash = '#key=admin-secret-0123456789'
    await using opened = await openPage(await browser(), app, { hash, expected: /status of 401/ })
    const { page } = opened
    await page.goto(`${app.url}/#/nowhere`)
    await page.getByRole('heading', { name: 'There is no such view' }).waitFor()
    expect(await page.title()).toBe('Not found · Weir')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.goto(`${app.url}/#/playground`)
    await page.getByText('This view needs an API key of an organization.').waitFor()
    await page.getByLabel('API key or admin key').fill(app.key)
    await page.keyboard.press('Enter')
    await page.getByLabel('Message').waitFor()
  })

  test('a phone has the navigation behind a button', async () => {
    await using app = await startApp()
    await using opened = await openPage(await browser(), app, {
      context: { viewport: { width: 360, height: 740 } },
    })
    const { page } = opened
    const menu = page.getByRole('button', { name: 'Menu' })
    await menu.click()
    const link = page.getByRole('link', { name: 'Playground' })
    await screenshot(page, 'phone-menu')
    expect(await accessibilityProblems(page)).toEqual([])
    await link.click()
    await link.waitFor({ state: 'hidden' })
  })

  test('an image is attached from a file and sent as a data URL; another file is refused', async () => {
    await using scenario = await startScenario(streamReply())
    await using opened = await openPage(await browser(), scenario.app)
    const { page } = opened
    await page.goto(`${scenario.app.url}/#/playground?model=acme/river`)
    const picker = page.locator('input[type=file]')
    await picker.setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('x') })
    await page.getByText('a.txt is not an image.').waitFor()
    await picker.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') })
    await page.getByAltText('Attached 1').waitFor()
    await page.getByLabel('Message').fill('What is it?')
    await page.keyboard.press('Enter')
    await page.getByText('It is four metres.').waitFor()
    expect((await scenario.acme.request(0)).body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
        ],
      },
    ])
  })
})
