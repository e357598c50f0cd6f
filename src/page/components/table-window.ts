import { useEffect, useRef, useState } from 'preact/hooks'

/** Pixels of a row; the style sheet has the same value. */
const rowHeight = 36
/** Pixels of a line of a card, and of the rest of it; the style sheet has the same values. */
const cardLineHeight = 28
const cardPadding = 25
/** A shorter list is rendered whole, so that the browser can search in it. */
const minVirtualized = 200
/** Rows above and below those in sight. */
const overscan = 12
/** Pixels from the end at which more rows are requested. */
const nearEnd = 600

/** The height of a row, or of a card with this many lines, in pixels. */
export function heightOf(cardLines: number | undefined): number {
  return cardLines === undefined ? rowHeight : cardLines * cardLineHeight + cardPadding
}

/**
 * Which rows of a long list have to be rendered for the part of the container in sight, and whether columns are out of
 * sight. `onNearEnd` is called after a change of the rows, and on a scroll, while the end of the list is in sight.
 */
export function useWindow(list: {
  readonly count: number
  /** Pixels of a row. */
  readonly height: number
  readonly onNearEnd: (() => void) | undefined
}) {
  const { count, height, onNearEnd } = list
  const container = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState({ top: 0, height: 800, wide: false })
  const measure = () => setRange((current) => measured(container.current, height, current))
  const check = () => {
    const { current } = container
    if (current === null || onNearEnd === undefined) return
    if (current.scrollHeight - current.scrollTop - current.clientHeight < nearEnd) onNearEnd()
  }
  useEffect(() => observeSize(container.current, measure), [count === 0, height])
  useEffect(measure, [count, height])
  useEffect(check, [count, onNearEnd])
  const whole = count <= minVirtualized
  const first = whole ? 0 : Math.max(0, Math.floor(range.top / height) - overscan)
  const visible = Math.ceil(range.height / height) + 3 * overscan
  return {
    container,
    first,
    last: whole ? count : Math.min(count, first + visible),
    wide: range.wide,
    onScroll() {
      measure()
      check()
    },
  }
}

type Range = { readonly top: number; readonly height: number; readonly wide: boolean }

/** The part in sight; the same object if nothing that matters has changed. */
function measured(container: HTMLElement | null, rowHeight: number, current: Range): Range {
  const { scrollTop = 0, clientHeight = 0, scrollWidth = 0, clientWidth = 0 } = container ?? {}
  // The number of rendered rows changes only with whole steps.
  const step = rowHeight * Math.floor(overscan / 2)
  const top = Math.floor(scrollTop / step) * step
  const wide = scrollWidth > clientWidth + 1
  const same = current.top === top && current.height === clientHeight && current.wide === wide
  return same ? current : { top, height: clientHeight, wide }
}

/** Calls `onChange` when the container or its content gets another size; returns what ends this. */
function observeSize(container: HTMLElement | null, onChange: () => void): (() => void) | undefined {
  if (container === null) return undefined
  const observer = new ResizeObserver(onChange)
  observer.observe(container)
  if (container.firstElementChild) observer.observe(container.firstElementChild)
  return () => observer.disconnect()
}

const narrow = matchMedia('(max-width: 760px)')

/** Whether the page is as narrow as on a phone; the style sheets have the same width. */
export function useNarrow(): boolean {
  const [matches, setMatches] = useState(narrow.matches)
  useEffect(() => {
    const follow = () => setMatches(narrow.matches)
    narrow.addEventListener('change', follow)
    follow()
    return () => narrow.removeEventListener('change', follow)
  }, [])
  return matches
}
