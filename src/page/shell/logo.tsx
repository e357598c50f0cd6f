/** The mark of Weir: water that falls over an edge. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" />
      <path d="M7 10h9c5 0 4 12 9 12M7 15h6c5 0 3 7 8 7M7 22h7" />
    </svg>
  )
}
