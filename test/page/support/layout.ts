import type { Page } from 'playwright-core'

/** The sizes of a phone and of two screens at which each view is looked at. */
export const sizes = [
  { width: 360, height: 740 },
  { width: 1280, height: 720 },
  { width: 1440, height: 900 },
] as const

/**
 * Returns what is wrong with the layout of a view, a sentence each: a document wider than the screen, a figure wider than
 * its place, a control out of sight, a control without words, and an empty state without a next step.
 */
export async function layoutProblems(page: Page): Promise<string[]> {
  // Media queries and observers of sizes are notified before the second frame.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
  return page.evaluate(findProblems)
}

/** Runs in the page. */
function findProblems(): string[] {
  const problems: string[] = []
  const { clientWidth, scrollWidth } = document.documentElement
  if (scrollWidth > clientWidth) problems.push(`The document is ${scrollWidth - clientWidth} px too wide.`)

  const isShown = (element: Element) =>
    element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().width > 0
  const modal = document.querySelector('dialog[open]')
  const all = (selector: string) =>
    [...(modal ?? document).querySelectorAll<HTMLElement>(selector)].filter(isShown)

  /** Whether a container scrolls sideways, and its description says so. */
  const announcesScroll = (element: Element) => {
    const { overflowX } = getComputedStyle(element)
    const hint = document.getElementById(element.getAttribute('aria-describedby') ?? '')
    return (
      /auto|scroll/.test(overflowX) && /scroll/i.test(hint?.innerText ?? '') && hint !== null && isShown(hint)
    )
  }
  /** The part of an element in pixels, from left to right, that no ancestor cuts off. */
  const visiblePart = (element: Element) => {
    let { left, right } = element.getBoundingClientRect()
    for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) {
      if (announcesScroll(parent)) return undefined
      if (getComputedStyle(parent).overflowX === 'visible') continue
      const box = parent.getBoundingClientRect()
      left = Math.max(left, box.left)
      right = Math.min(right, box.right)
    }
    return Math.min(right, clientWidth) - Math.max(left, 0)
  }
  for (const control of all('button, a[href], input, select, textarea, summary, [role=tab]')) {
    const name = control.getAttribute('aria-label') ?? control.innerText.trim()
    const what = `${control.localName} ‘${name || control.id}’`
    const { width } = control.getBoundingClientRect()
    const part = visiblePart(control)
    // The text of a link may be cut off within its cell.
    const needed = control.localName === 'a' ? Math.min(24, width) : width
    if (part !== undefined && part < needed - 1)
      problems.push(`Of the ${what}, ${Math.round(part)} of ${Math.round(width)} px are in sight.`)
    if (!/^(button|a)$/.test(control.localName)) continue
    if (name === '') problems.push(`A ${control.localName} has no name: ${control.outerHTML.slice(0, 120)}`)
    if (control.innerText.trim() === '' && !control.title)
      problems.push(`The ${what} has no words and no tooltip.`)
  }
  for (const figure of all('.figures dd'))
    if (figure.scrollWidth > figure.clientWidth)
      problems.push(`The figure ‘${figure.innerText}’ is wider than its place.`)
  for (const state of all('.state'))
    // Of an empty conversation, the field for the first message is the next step.
    if ((state.querySelector('a[href], button') ?? state.parentElement?.querySelector('textarea')) == null)
      problems.push(`The empty state ‘${state.innerText.slice(0, 80)}’ has no next step.`)
  return problems
}
