"use strict";
// Without this script the page says all it has to say: what follows copies, tells the age by the second, and brings the next look.
const POLL_SECONDS = 15;

// Buttons that copy the commands beside them; the text can be marked and copied as ever.
function addButtons() {
  for (const block of document.querySelectorAll(".block")) {
    const text = block.querySelector("pre");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    // Several blocks of a finding may have one label: the line that is copied first tells them apart.
    button.setAttribute("aria-label", `Copy: ${block.querySelector(".label").textContent}: ${text.textContent.split("\n", 1)[0]}`);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(text);
        button.textContent = "Marked";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.querySelector(".label").after(button);
  }
}

function inWords(seconds) {
  const units = [[86400, "d"], [3600, "h"], [60, "min"]];
  const [length, unit] = units.find(([length]) => seconds >= 2 * length) ?? [1, "s"];
  return `${Math.floor(seconds / length)} ${unit}`;
}

// The age comes from the server, since its clock is not this one's; from then on seconds are counted here.
let looked = null;
let answers = true;
let isLate = false; // of the daemon's last look, which is not the one that is shown while its reader is busy

function setAge(seconds) { looked = performance.now() / 1000 - seconds; }

function ageSeconds() { return performance.now() / 1000 - looked; }

function showAge() {
  const age = document.querySelector(".age");
  if (!age || looked === null) return;
  const further = !answers ? "; myisam-advisor does not answer" : isLate ? ": the next look is overdue" : "";
  age.textContent = `${inWords(ageSeconds())} ago${further}`;
  age.classList.toggle("stale", further !== "");
}

// Whoever marks something, types or moves by keyboard is not disturbed: the look after that is as good. A click leaves the focus where it was for as long as
// the page is open, and is no such place: it does not show (:focus-visible).
function isBusy() {
  const focused = document.activeElement;
  const within = focused && focused.id !== "main" && document.querySelector("main").contains(focused) && focused.matches(":focus-visible");
  const typed = [...document.querySelectorAll("input")].some((one) => one.value !== one.defaultValue);
  return document.hidden || within || typed || !getSelection().isCollapsed;
}

function bring(next) {
  if (next.querySelector("style").textContent !== document.querySelector("style").textContent) return location.reload();
  const open = new Map();
  for (const one of document.querySelectorAll("details[data-key]")) open.set(one.dataset.key, one.open);
  for (const part of ["header", "main"]) document.querySelector(part).replaceChildren(...next.querySelector(part).childNodes);
  for (const one of document.querySelectorAll("details[data-key]")) one.open = open.get(one.dataset.key) ?? one.open;
  document.title = next.title;
  addButtons();
}

let shown = null;

async function poll() {
  isLate = false;
  if (isBusy()) return showAge();
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const text = await answer.text();
    const said = Date.parse(answer.headers.get("Date")) - Date.parse(answer.headers.get("Last-Modified"));
    answers = answer.ok;
    if (answer.ok && !Number.isNaN(said)) setAge(said / 1000);
    const tag = answer.headers.get("ETag");
    if (answer.ok && tag !== shown && !isBusy()) {
      if (shown !== null) bring(new DOMParser().parseFromString(text, "text/html"));
      shown = tag;
    }
    isLate = answer.ok && tag === shown && ageSeconds() > Number(document.querySelector(".age")?.dataset.staleAfter);
  } catch {
    answers = false;
  }
  showAge();
}

addButtons();
const age = document.querySelector(".age");
if (location.protocol === "file:") {
  // A page that was saved has nobody to ask, and nothing in it knows when it is opened.
  if (age) age.textContent = "";
} else {
  // Before the first look there is no age: it comes with the page that has one.
  if (age && age.dataset.seconds) setAge(Number(age.dataset.seconds));
  setInterval(showAge, 1000);
  setInterval(poll, POLL_SECONDS * 1000);
  poll();
}
