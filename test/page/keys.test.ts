import { describe, expect, test } from 'bun:test'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openAdmin } from './support/open-admin.ts'
import { phoneInTheDark } from './support/open-view.ts'
import { screenshot } from './support/screenshot.ts'

const browser = sharedTab()

describe.skipIf(!hasBrowser)(`the keys view${browserNeeded}`, () => {
  test('a new key is shown once, works, and is kept nowhere', async () => {
    await using paid = await startAdmin()
    await using opened = await openAdmin(await browser(), paid.app, '#/keys')
    const { page, watch } = opened
    await page.getByRole('cell', { name: 'default' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.keyboard.press('n')
    await page.getByLabel('Name').fill('laptop')
    await page.getByLabel('Expires').selectOption('90d')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'The new API key' })
    const key = await dialog.locator('.secret code').innerText()
    const authorization = `Bearer ${key}`
    expect((await paid.app.request('/v1/models', { headers: { authorization } })).status).toBe(200)
    await dialog.getByText('It expires').waitFor()
    await page.mouse.click(4, 4)
    await dialog.waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    // A dialog that is closed has no role, and leaves the document a moment later.
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page
      .getByRole('row', { name: /laptop/ })
      .getByText('active')
      .waitFor()
    expect(await page.content()).not.toContain(key)
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...sessionStorage }, { ...localStorage }, location.href, document.cookie]),
    )
    expect(kept).not.toContain(key)
    expect(watch.requests.filter((url) => url.includes(key))).toEqual([])
  })

  test('a key is rotated with a grace period, and revoked', async () => {
    await using paid = await startAdmin()
    const { body } = await requestAdmin(paid.app, 'POST', 'keys', {
      body: { organization: 'default', name: 'ci' },
    })
    const statusWith = async (key: unknown) => {
      const headers = { authorization: `Bearer ${String(key)}` }
      return (await paid.app.request('/v1/models', { headers })).status
    }
    await using opened = await openAdmin(await browser(), paid.app, '#/keys')
    const { page } = opened
    await page.getByRole('button', { name: 'Rotate ci' }).press('Enter')
    await page.getByLabel('The old key still works').selectOption('1h')
    await page.getByRole('button', { name: 'Rotate', exact: true }).press('Enter')
    const renewed = await page.locator('.secret code').innerText()
    await page.getByRole('button', { name: 'Done' }).press('Enter')
    await page
      .getByRole('row', { name: new RegExp(String(body.id)) })
      .getByText('replaced')
      .waitFor()
    expect([await statusWith(body.key), await statusWith(renewed)]).toEqual([200, 200])
    const replacement = page.getByRole('row', { name: new RegExp(renewed.slice(0, 20)) })
    await replacement.getByRole('button', { name: 'Revoke ci' }).press('Enter')
    await page.getByText('rejected at once').waitFor()
    await page.getByRole('button', { name: 'Revoke', exact: true }).press('Enter')
    await replacement.waitFor({ state: 'detached' })
    expect([await statusWith(body.key), await statusWith(renewed)]).toEqual([200, 401])
    await page.getByLabel('State').selectOption('all')
    await replacement.getByText('revoked').waitFor()
    expect(page.url()).toContain('state=all')
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('dialogs that end a key say that the keys which it has created end with it, and only then', async () => {
    await using paid = await startAdmin()
    const create = async (name: string, permissions: readonly string[]) =>
      (
        await requestAdmin(paid.app, 'POST', 'keys', {
          body: { organization: 'default', name, permissions, budget_usd: '5' },
        })
      ).body
    await create('ci', [])
    const scheduler = await create('scheduler', ['mint'])
    const minted = (await (
      await paid.app.request('/v1/organization/keys', {
        method: 'POST',
        headers: { authorization: `Bearer ${String(scheduler.key)}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'run', budget_usd: '1', expires_in: '2h' }),
      })
    ).json()) as { readonly key: string }
    const statusOfMinted = async () => {
      const headers = { authorization: `Bearer ${minted.key}` }
      return (await paid.app.request('/v1/models', { headers })).status
    }
    await using opened = await openAdmin(await browser(), paid.app, '#/keys')
    const { page } = opened
    const textOf = async (action: string, name: string) => {
      await page.getByRole('button', { name: `${action} ${name}` }).press('Enter')
      const text = await page.getByRole('dialog').locator('p').first().innerText()
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      return text
    }
    expect(await textOf('Rotate', 'scheduler')).toEndWith(
      'Both spend the same budget. The keys that the old one has created end with it.',
    )
    expect(await textOf('Revoke', 'scheduler')).toMatch(
      /^Requests with the key that ends with \S+ or with keys that it has created are rejected at once\./,
    )
    expect(await textOf('Rotate', 'ci')).toEndWith('Both spend the same budget.')
    expect(await textOf('Revoke', 'ci')).not.toContain('created')

    expect(await statusOfMinted()).toBe(200)
    await page.getByRole('button', { name: 'Rotate scheduler' }).press('Enter')
    await page.getByLabel('The old key still works').selectOption('0s')
    await page.getByRole('button', { name: 'Rotate', exact: true }).press('Enter')
    await page.getByRole('dialog', { name: 'The new API key' }).waitFor()
    expect(await statusOfMinted()).toBe(401)
  })

  test('keys with hostile names are text, are filtered by organization, and fit a phone', async () => {
    await using paid = await startAdmin()
    const hostile = '<img src=x onerror=alert(1)> \u202Egnp.exe'
    await requestAdmin(paid.app, 'POST', 'organizations', { body: { name: 'acme' } })
    const names = ['laptop', 'production', 'staging', hostile]
    for (const [index, name] of names.entries())
      await requestAdmin(paid.app, 'POST', 'keys', {
        body: { organization: 'acme', name, ...(index % 2 === 1 && { expires_in: '90d' }) },
      })
    await using opened = await openAdmin(await browser(), paid.app, '#/keys')
    const { page } = opened
    await page.getByText('5 in all.').waitFor()
    await screenshot(page, 'keys-light')
    await page.getByRole('button', { name: /^Revoke <img/ }).click()
    await page.getByRole('heading', { name: 'Revoke <img src=x onerror=alert(1)> [U+202E]gnp.exe' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('combobox', { name: 'Organization' }).fill('ACME')
    await page.getByRole('option', { name: 'acme' }).click()
    await page.getByText('4 in all.').waitFor()
    await page.getByLabel('Search').fill('PROD')
    await page.getByText('1 in all.').waitFor()
    await page.getByLabel('Search').fill('100%')
    await page.getByRole('button', { name: 'Show all keys' }).click()
    await page.getByText('5 in all.').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    await page.setViewportSize(phoneInTheDark.viewport)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'keys-360-dark')
  })

  test('text that is selected beyond a dialog leaves it open, and a click beside it closes it', async () => {
    await using paid = await startAdmin()
    await using opened = await openAdmin(await browser(), paid.app, '#/keys')
    const { page } = opened
    await page.getByRole('cell', { name: 'default' }).waitFor()
    await page.keyboard.press('n')
    const name = page.getByRole('dialog').getByLabel('Name')
    await name.fill('laptop')
    const { x, y, width, height } = (await name.boundingBox())!
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(4, y + height / 2)
    await page.mouse.up()
    expect(await page.locator('dialog[open]').count()).toBe(1)
    expect(await name.inputValue()).toBe('laptop')
    expect(await page.evaluate(() => getSelection()?.toString())).toBe('laptop')
    await page.mouse.click(4, 4)
    await page.locator('dialog').waitFor({ state: 'detached' })
  })
})
