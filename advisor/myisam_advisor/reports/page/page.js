"use strict";
// Buttons that copy the commands beside them; without this script the text can be marked and copied as ever.
for (const block of document.querySelectorAll(".block")) {
  const text = block.querySelector("pre");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy: " + block.querySelector(".label").textContent);
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
