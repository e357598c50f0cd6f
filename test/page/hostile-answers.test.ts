import { describe, expect, test } from 'bun:test'
import { chatOutput, streamReply } from '../support/chat-fixtures.ts'
import { startScenario } from '../support/scenario.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openPage } from './support/open-page.ts'
import { screenshot } from './support/screenshot.ts'

const browser = sharedTab()
const image = '<img src="http://elsewhere.test/x.png" onerror="document.title=`taken`">'

const text = `${image}

<script>document.title = 'taken'</script>

# Title ${image}

[script](javascript:document.title='taken') [data](data:text/html,<script>1</script>) [vb](vbscript:x) <javascript:1>

![picture](http://elsewhere.test/y.png) [web](https://example.com/a?b=c) [entity](jav&#x61;script:1)

- item ${image}

| a | ${image} |
|---|---|
| [x](javascript:1) | \`${image}\` |

\`\`\`html"><img src=x onerror=alert(1)>
${image}
\`\`\`

\u001b[31mred\u001b[0m and \u202Egnp.exe\u202C ${'>'.repeat(3000)} deep

${'['.repeat(2000)}${'*'.repeat(2000)}
`

describe.skipIf(!hasBrowser)(`what a model sends${browserNeeded}`, () => {
  test('is text, whatever it is: no markup, script, picture or link but to the web', async () => {
    const output = chatOutput({
      reasoning: [image],
      text: [...(text.match(/[^]{1,97}/g) ?? [])],
      calls: [{ id: 'call_1', name: image, arguments: [JSON.stringify({ a: image })] }],
      finish: 'tool_calls',
    })
    await using scenario = await startScenario(streamReply(output))
    const context = { viewport: { width: 900, height: 1400 } }
    await using opened = await openPage(await browser(), scenario.app, { context, expected: /status of 404/ })
    const { page } = opened
    const dialogs: string[] = []
    page.on('dialog', (dialog) => void (dialogs.push(dialog.message()), dialog.dismiss()))
    await page.goto(`${scenario.app.url}/#/playground?model=acme/river`)
    await page.getByLabel('Message').fill(image)
    await page.keyboard.press('Enter')
    const answer = page.getByRole('article')
    await answer.getByText('Output', { exact: true }).waitFor()
    const found = await answer.evaluate((element) => ({
      active: element.querySelectorAll(
        'img, script, iframe, object, embed, style, form, [onerror], [onclick]',
      ).length,
      links: [...element.querySelectorAll('a')].map(({ href, rel, target }) => ({ href, rel, target })),
      text: element.textContent ?? '',
    }))
    const web = { rel: 'noopener noreferrer nofollow', target: '_blank' }
    expect(found.active).toBe(0)
    expect(found.links).toEqual([
      { ...web, href: 'http://elsewhere.test/y.png' },
      { ...web, href: 'https://example.com/a?b=c' },
    ])
    expect(found.text).toContain(image)
    expect(found.text).toContain('␛[31mred␛[0m and [U+202E]gnp.exe[U+202C]')
    for (const character of ['\u001b', '\u202e']) expect(found.text).not.toContain(character)
    expect(await page.title()).toBe('Playground · Weir')
    expect(dialogs).toEqual([])
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'hostile')
    // A link to the page can name any model.
    await page.goto(`${scenario.app.url}/#/playground?model=${encodeURIComponent(image)}`)
    await page.getByLabel('Message').fill('Hello')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText(image).waitFor()
    expect(await page.locator('main img').count()).toBe(0)
  })
})
